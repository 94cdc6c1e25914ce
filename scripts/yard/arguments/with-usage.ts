import { UsageFault } from './usage-fault.ts'

/** A command, behind its name. Answers its exit code. */
export type Run = (args: string[]) => Promise<number>

type Usage = {
  args: readonly string[]
  /** All that is typed. */
  usage: string
  /** What it does, and what its options mean. */
  about: string
}

/** Runs a command, or shows how it is typed where that is asked for; 2 when it was typed wrongly. */
export async function withUsage({ args, usage, about }: Usage, run: () => Promise<number>): Promise<number> {
  if (asksForHelp(args)) {
    console.log(`Usage: ${usage.trimEnd()}\n${about}`)
    return 0
  }
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof UsageFault) && !isParseFault(error)) throw error
    console.error(`yard: ${error.message}\nUsage: ${usage.trimEnd()}`)
    return 2
  }
}

export const asksForHelp = (args: readonly string[]) => args.includes('--help') || args.includes('-h')

// What node:util's parseArgs throws for an option that a command does not have.
const isParseFault = (error: unknown): error is Error =>
  error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
