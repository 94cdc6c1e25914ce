import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { ToolShape } from '@toolyard/contract/tools'
import { toolListShape } from '@toolyard/contract/tools'
import { z } from 'zod'
import { Failure } from '../../services/terminal/failure.ts'
import type { Desk } from '../api/desk.ts'
import { askingOptions, openDesk } from '../api/desk.ts'
import { shortHash } from './list-tools.ts'
import type { Api } from '../api/open-api.ts'
import { readAnswer } from '../api/open-api.ts'
import type { Paint } from '../text/paint.ts'
import { indent, oneLine } from '../text/terminal-text.ts'

const reloadShape = z.object({
  reloaded: z.boolean(),
  workers: z.int(),
  faults: z.array(z.object({ folder: z.string(), faults: z.array(z.string()) })),
})

const progressShape = z.object({ progress: z.string().nullable() })

/** How it went with one tool. */
export type Built = {
  name: string
  state: 'ready' | 'error'
  version?: string
  hash?: string
  error?: string
}

const askEveryMs = 300
/** More than a worker gives a build before it ends it. */
const standstillMaxMs = 15 * 60_000

/** Has the folders read again and waits until the images of these tools, or of all, are there or cannot be made. */
export async function buildTools(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, options: askingOptions, allowPositionals: true })
  const desk = openDesk(values)
  const names = [...new Set(positionals)]
  const reload = readAnswer(reloadShape, await desk.api.call('/tools/reload', { method: 'POST' }))
  if (!reload.reloaded) throw new Failure(notRead(reload.workers))
  const broken = new Map(reload.faults.map(({ folder, faults }) => [folder, faults.join('\n')]))
  const built = await follow(desk, names, broken)
  const isGood = built.every(({ state }) => state === 'ready')
  desk.tell({ built, ok: isGood }, (paint) => builtLines(built, paint))
  return isGood ? 0 : 1
}

const notRead = (workers: number) =>
  workers === 0
    ? 'No worker has read the tools: see ./yard status, and ./yard logs worker'
    : 'Not every worker has read the tools yet: try again, or see ./yard logs worker'

export function builtLines(built: readonly Built[], paint: Paint): string[] {
  if (built.length === 0) return ['There is no tool yet: ./yard tool new NAME --lang bash|python|node']
  return built.flatMap(({ name, state, version, hash, error }) =>
    state === 'ready'
      ? [
          `${paint.good('ready')}  ${oneLine(name)} ${oneLine(version ?? '')} ${shortHash(hash ?? '')}`.trimEnd(),
        ]
      : [`${paint.bad('error')}  ${oneLine(name)}`, indent(error ?? 'it does not say why', '       ')],
  )
}

async function follow(
  { api, note }: Desk,
  names: readonly string[],
  broken: ReadonlyMap<string, string>,
): Promise<Built[]> {
  const said = new Map<string, string>()
  let movedMs = performance.now()
  for (;;) {
    const { tools } = readAnswer(toolListShape, await api.call('/tools'))
    const wanted =
      names.length > 0 ? names : [...new Set([...tools.map(({ name }) => name), ...broken.keys()])]
    const building = tools.filter(({ name, image }) => wanted.includes(name) && image.state === 'building')
    if (building.length === 0) return wanted.map((name) => judge(name, tools, broken))
    for (const { name } of building) {
      const line = await readProgress(api, name)
      if (line === undefined || said.get(name) === line) continue
      said.set(name, line)
      movedMs = performance.now()
      note(`${name}: ${oneLine(line)}`)
    }
    if (performance.now() - movedMs > standstillMaxMs)
      throw new Failure(
        `Nothing is built of ${listNames(building)}: see ./yard status, and ./yard logs worker`,
      )
    await delay(askEveryMs)
  }
}

const listNames = (tools: readonly ToolShape[]) => tools.map(({ name }) => name).join(', ')

async function readProgress(api: Api, name: string): Promise<string | undefined> {
  const answer = readAnswer(progressShape, await api.call(`/tools/${encodeURIComponent(name)}`))
  return answer.progress ?? undefined
}

function judge(name: string, tools: readonly ToolShape[], broken: ReadonlyMap<string, string>): Built {
  const fault = broken.get(name)
  if (fault !== undefined) return { name, state: 'error', error: fault }
  const tool = tools.find((each) => each.name === name)
  if (tool === undefined)
    return {
      name,
      state: 'error',
      error: 'there is no folder of this name where the tools are (YARD_TOOL_DIRS)',
    }
  const { version, image } = tool
  if (image.state !== 'ready')
    return { name, state: 'error', ...(image.error !== null && { error: image.error }) }
  return { name, state: 'ready', version, ...(image.hash !== null && { hash: image.hash }) }
}
