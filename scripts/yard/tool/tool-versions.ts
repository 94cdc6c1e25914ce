import { parseArgs } from 'node:util'
import { z } from 'zod'
import { askingOptions, openDesk } from '../api/desk.ts'
import { shortHash } from './list-tools.ts'
import { readAnswer } from '../api/open-api.ts'
import type { Paint } from '../text/paint.ts'
import { onlyWord, requireToolName } from '../arguments/read-arguments.ts'
import { columns, oneLine } from '../text/terminal-text.ts'

const versionsShape = z.object({
  versions: z.array(
    z.object({
      hash: z.string(),
      version: z.string(),
      found_at: z.string(),
      served_at: z.string().nullable(),
      is_current: z.boolean(),
      is_wanted: z.boolean(),
      is_refused: z.boolean(),
      images: z.int(),
    }),
  ),
})

type Version = z.infer<typeof versionsShape>['versions'][number]

export async function listVersions(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, options: askingOptions, allowPositionals: true })
  const name = requireToolName(onlyWord(positionals, 'NAME'))
  const { api, tell } = openDesk(values)
  const answer = await api.call(`/tools/${name}/versions`)
  const { versions } = readAnswer(versionsShape, answer)
  tell(answer, (paint) => versionLines(versions, paint))
  return 0
}

export function versionLines(versions: readonly Version[], paint: Paint): string[] {
  return columns([
    ['HASH', 'VERSION', 'FOUND', 'SERVED', 'IMAGE', ''].map(paint.faint),
    ...versions.map((version) => [
      shortHash(version.hash),
      oneLine(version.version),
      oneLine(version.found_at),
      oneLine(version.served_at ?? 'never'),
      version.images > 0 ? 'ready' : 'none',
      [
        ...(version.is_current ? [paint.good('serves')] : []),
        ...(version.is_wanted ? ['is in the folder'] : []),
        ...(version.is_refused ? [paint.warning('was rolled back from')] : []),
      ].join(', '),
    ]),
  ])
}

const rolledBackShape = z.object({ from: z.string().nullable(), to: z.string() })

/** Moves a tool to the version that served before, or to the one that `--to` names by the beginning of its hash. */
export async function rollBackTool(args: string[]): Promise<number> {
  const options = { ...askingOptions, to: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const name = requireToolName(onlyWord(positionals, 'NAME'))
  const { api, tell } = openDesk(values)
  const body = values.to === undefined ? {} : { to: values.to }
  const answer = await api.call(`/tools/${name}/rollback`, { method: 'POST', body })
  const { from, to } = readAnswer(rolledBackShape, answer)
  tell(answer, () => [
    `${name} serves ${shortHash(to)}${from === null ? '' : ` instead of ${shortHash(from)}`}; see ./yard tool versions ${name}`,
  ])
  return 0
}
