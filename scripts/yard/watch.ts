import { parseArgs } from 'node:util'
import { Interruption } from '../services/terminal/failure.ts'
import { followInvocation } from './invocation/follow-invocation.ts'
import { createJsonReporter, createLineReporter } from './invocation/follow-lines.ts'
import { listenForStop } from './stop-signals.ts'
import type { Desk } from './api/desk.ts'
import { askingOptions, openDesk } from './api/desk.ts'
import { invocationLines } from './invocation/invocation-lines.ts'
import { onlyWord } from './arguments/read-arguments.ts'
import { jsonLine, oneLine } from './text/terminal-text.ts'

const output = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
}

/** Exit code 1 unless it succeeded. With `--json`: each event is a line, and the last line is the invocation. */
export async function watch(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, options: askingOptions, allowPositionals: true })
  const id = onlyWord(positionals, 'ID')
  return watchToEnd(openDesk(values), id, values.json ? 'events' : 'lines')
}

/** `result`: nothing but the invocation as JSON, at its end. */
export async function watchToEnd(
  { api, paint, tell }: Desk,
  id: string,
  form: 'lines' | 'events' | 'result',
): Promise<number> {
  const signals = listenForStop()
  const lines = createLineReporter(id, output, paint)
  const quiet = { status: () => {}, stderr: () => {}, lost: () => {} }
  const reporters = { lines: lines.reporter, events: createJsonReporter(output), result: quiet }
  try {
    const following = { id, signal: signals.stop }
    const { answer, invocation } = await followInvocation(api, following, reporters[form])
    lines.endLine()
    if (form === 'events') output.out(`${jsonLine({ event: 'invocation', invocation: answer })}\n`)
    else tell(answer, () => invocationLines(invocation, paint))
    return invocation.status === 'succeeded' ? 0 : 1
  } catch (error) {
    lines.endLine()
    if (signals.stop.aborted) throw new Interruption(oneLine(`${id} goes on: ./yard watch ${id}`))
    throw error
  } finally {
    signals.dispose()
  }
}
