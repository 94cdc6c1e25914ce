import { stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { describeFault } from '@toolyard/catalog/describe-fault'
import type { FoundTool } from '@toolyard/catalog/found-tool'
import type { ToolReading } from '@toolyard/catalog/read-tool'
import { readTool } from '@toolyard/catalog/read-tool'
import type { Json } from '@toolyard/contract/parameters'
import { Failure, Interruption } from '../../services/terminal/failure.ts'
import type { Installation } from '../../services/installation/installation.ts'
import { openInstallation } from '../../services/installation/installation.ts'
import { withLock } from '../../services/installation/lock.ts'
import { createProgress, createRenderer } from '../../services/terminal/progress.ts'
import { listenForStop } from '../stop-signals.ts'
import type { CheckReport } from './check-report.ts'
import { describeTrial } from './check-report.ts'
import { checkLines } from './check-lines.ts'
import { hygieneHints } from './hygiene-hints.ts'
import { createPaint } from '../text/paint.ts'
import type { Prepared } from './prepare-payload.ts'
import { preparePayload } from './prepare-payload.ts'
import { onlyWord, readObject } from '../arguments/read-arguments.ts'
import { jsonLine, oneLine } from '../text/terminal-text.ts'
import { tryOnEngine } from './try-on-engine.ts'
import { UsageFault } from '../arguments/usage-fault.ts'
import { withGround } from './with-ground.ts'

const lockWaitMs = 600_000
const readTriesMax = 5
const readRetryMs = 100

type Asked = { params?: Record<string, Json>; settings: Record<string, Json> }

/** Everything about a tool that can be known before it is listed: its manifest, its image, one run of it. */
export async function checkTool(args: string[]): Promise<number> {
  const options = {
    params: { type: 'string' },
    settings: { type: 'string', default: '{}' },
    json: { type: 'boolean', default: false },
  } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const dir = resolve(onlyWord(positionals, 'DIR'))
  if (values.params === '-' && values.settings === '-')
    throw new UsageFault('only one of them can come from stdin')
  const params = values.params === undefined ? {} : { params: await readObject('--params', values.params) }
  const report = await check(dir, { ...params, settings: await readObject('--settings', values.settings) })
  const paint = createPaint(process.stdout, process.env)
  console.log(values.json ? jsonLine(report) : checkLines(report, paint).join('\n'))
  return report.ok ? 0 : 1
}

async function check(dir: string, asked: Asked): Promise<CheckReport> {
  const found = await read(dir)
  if ('faults' in found) return { tool: basename(dir), dir, ok: false, faults: found.faults, hints: [] }
  const { tool } = found
  const prepared = preparePayload(tool.manifest, { ...asked, time: new Date().toISOString() })
  const known = { tool: tool.name, dir }
  if (prepared.kind === 'refused') {
    const hints = hygieneHints({ tool, missingSettings: [] })
    return { ...known, ok: false, faults: prepared.faults, hints }
  }
  return { ...known, ...(await tryIt(openInstallation(), tool, prepared)) }
}

async function read(dir: string): Promise<{ tool: FoundTool } | { faults: string[] }> {
  const isFolder = await stat(dir).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
  if (!isFolder) throw new Failure(`${oneLine(dir)} is no folder`)
  const name = basename(dir)
  if (/^[_.]/.test(name))
    throw new Failure(`${oneLine(dir)} is no tool: folders whose names begin with _ or . are left out`)
  for (let tries = 1; tries <= readTriesMax; tries++) {
    const reading: ToolReading = await readTool({ name, dir }, { extra: [], settleMs: 0 })
    if (reading.state === 'tool') return { tool: reading.tool }
    if (reading.state === 'faults')
      return { faults: reading.faults.map((fault) => describeFault(dir, fault)) }
    await delay(readRetryMs)
  }
  throw new Failure(`${oneLine(dir)} is being written to: try again when it is at rest`)
}

type Ready = Extract<Prepared, { kind: 'prepared' }>

async function tryIt(installation: Installation, tool: FoundTool, prepared: Ready) {
  const renderer = createRenderer(process.stderr)
  const progress = createProgress(renderer.show)
  const signals = listenForStop()
  const turn = { waitMs: lockWaitMs, what: 'Another ./yard tool check runs on this installation' }
  try {
    const tried = await withGround(installation, progress, (dockerHost) =>
      withLock(join(installation.paths.run, 'check.lock'), turn, () =>
        tryOnEngine({
          installation,
          dockerHost,
          tool,
          payload: prepared.payload,
          stop: signals.stop,
          onProgress: (line) => progress.note(oneLine(line)),
        }),
      ),
    )
    signals.stop.throwIfAborted()
    return describeTrial({ tool, prepared, tried })
  } catch (error) {
    if (signals.stop.aborted) throw new Interruption('Broken off; nothing is left of it')
    throw error
  } finally {
    signals.dispose()
  }
}
