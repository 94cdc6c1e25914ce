import { nearestWord } from '@toolyard/contract/nearest-word'
import { columns } from '../text/terminal-text.ts'
import { UsageFault } from './usage-fault.ts'

/** A command of a command, loaded only when it is asked for. */
export type Verb = { usage: string; about: string; load: () => Promise<(args: string[]) => Promise<number>> }

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
  const usage = `Usage: ./yard ${command} ${name} ${verb.usage}`
  if (args.includes('--help') || args.includes('-h')) {
    console.log(`${usage}\n${verb.about}`)
    return 0
  }
  const run = await verb.load()
  try {
    return await run(args)
  } catch (error) {
    if (!(error instanceof UsageFault)) throw error
    console.error(`yard: ${error.message}\n${usage}`)
    return 2
  }
}

const help = (command: string, verbs: Readonly<Record<string, Verb>>) =>
  [
    `Usage: ./yard ${command} <command>`,
    '',
    ...columns(Object.entries(verbs).map(([name, { about }]) => [`  ${name}`, about])),
    '',
    `What each takes: ./yard ${command} <command> --help`,
  ].join('\n')
