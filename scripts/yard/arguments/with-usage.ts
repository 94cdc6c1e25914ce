import { UsageFault } from './usage-fault.ts'

/** Runs a command that is typed as `usage` says; 2 when it was typed wrongly. */
export async function withUsage(
  { args, usage, about }: { args: string[]; usage: string; about: string },
  run: () => Promise<number>,
): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(`Usage: ${usage}\n${about}`)
    return 0
  }
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof UsageFault)) throw error
    console.error(`yard: ${error.message}\nUsage: ${usage}`)
    return 2
  }
}
