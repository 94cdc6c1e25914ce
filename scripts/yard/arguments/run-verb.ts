import { nearestWord } from '@toolyard/contract/nearest-word'
import { columns } from '../text/terminal-text.ts'
import type { Run } from './with-usage.ts'
import { withUsage } from './with-usage.ts'

/** A command of a command, loaded only when it is asked for. */
export type Verb = { usage: string; about: string; details?: readonly string[]; load: () => Promise<Run> }

/** What commands that ask the running API take. */
export const asking = '[--json] [--key-file FILE]'

/** Exit code 0: done. 1: it failed, or the tool did. 2: typed wrongly. */
export async function runVerb(
  command: string,
  verbs: Readonly<Record<string, Verb>>,
  [name, ...args]: string[],
): Promise<number> {
  const verb = name !== undefined && Object.hasOwn(verbs, name) ? verbs[name] : undefined
  if (name === 'help' || name === '--help' || name === '-h') {
    console.log(help(command, verbs))
    return 0
  }
  if (name === undefined || verb === undefined) {
    const nearest = name === undefined ? undefined : nearestWord(name, Object.keys(verbs))
    if (nearest !== undefined)
      console.error(`yard: there is no "${command} ${name}"; did you mean "${nearest}"?`)
    console.error(help(command, verbs))
    return 2
  }
  const usage = `./yard ${command} ${name} ${verb.usage}`
  const about = [verb.about, ...(verb.details ?? [])].join('\n')
  return withUsage({ args, usage, about }, async () => (await verb.load())(args))
}

const help = (command: string, verbs: Readonly<Record<string, Verb>>) =>
  [
    `Usage: ./yard ${command} <command>`,
    '',
    ...columns(Object.entries(verbs).map(([name, { about }]) => [`  ${name}`, about])),
    '',
    `What each takes: ./yard ${command} <command> --help, or ./yard help ${command} <command>`,
  ].join('\n')
