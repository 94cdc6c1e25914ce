import { createInterface } from 'node:readline/promises'
import { Failure, Interruption } from './failure.ts'

/** What the person at the terminal types. Ctrl-C and Ctrl-D are no answer: they throw, and nothing has been done. */
export async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // A question whose terminal closes would otherwise stay open for ever.
  const ended = new AbortController()
  terminal.once('SIGINT', () => ended.abort(new Interruption('Nothing was done')))
  terminal.once('close', () => ended.abort(new Failure('Nothing was done: there was no answer')))
  try {
    return (await terminal.question(question, { signal: ended.signal })).trim()
  } catch (error) {
    process.stdout.write('\n')
    ended.signal.throwIfAborted()
    throw error
  } finally {
    terminal.close()
  }
}
