import { parseArgs } from 'node:util'
import { invocationShape, isFinal } from '@toolyard/contract/invocations'
import { Interruption } from '../../services/terminal/failure.ts'
import { listenForStop } from '../stop-signals.ts'
import type { Desk } from '../api/desk.ts'
import { askingOptions, openDesk } from '../api/desk.ts'
import type { Invocation } from '../invocation/invocation-lines.ts'
import { invocationLines } from '../invocation/invocation-lines.ts'
import { readAnswer } from '../api/open-api.ts'
import { onlyWord, readObject, requireToolName } from '../arguments/read-arguments.ts'
import { oneLine } from '../text/terminal-text.ts'

// Short, so that it is soon known what to cancel.
const firstWaitSeconds = 2
const nextWaitSeconds = 30

/** One call, as an agent makes it. Exit code 1 unless it succeeded; who breaks off cancels it. */
export async function runTool(args: string[]): Promise<number> {
  const options = {
    ...askingOptions,
    params: { type: 'string', default: '{}' },
    topic: { type: 'string' },
  } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const name = requireToolName(onlyWord(positionals, 'NAME'))
  const params = await readObject('--params', values.params)
  const desk = openDesk(values)
  const body = { params, ...(values.topic !== undefined && { topic: values.topic }) }
  const first = await desk.api.call(`/tools/${name}/invoke`, { method: 'POST', body, wait: firstWaitSeconds })
  const answer = await awaitEnd(desk, first)
  const invocation = readAnswer(invocationShape, answer)
  desk.tell(answer, (paint) => invocationLines(invocation, paint))
  return invocation.status === 'succeeded' ? 0 : 1
}

async function awaitEnd({ api, note }: Desk, first: unknown): Promise<unknown> {
  const signals = listenForStop()
  let answer = first
  const path = `/invocations/${encodeURIComponent(readAnswer(invocationShape, first).id)}`
  try {
    for (;;) {
      const invocation = readAnswer(invocationShape, answer)
      if (isFinal(invocation.status)) return answer
      note(waiting(invocation))
      answer = await api.call(`${path}?wait=${nextWaitSeconds}`, {
        wait: nextWaitSeconds,
        signal: signals.stop,
      })
    }
  } catch (error) {
    if (!signals.stop.aborted) throw error
    await api.call(`${path}/cancel`, { method: 'POST' })
    throw new Interruption('The call is cancelled')
  } finally {
    signals.dispose()
  }
}

const waiting = ({ id, status, waiting_for: reason }: Invocation) =>
  oneLine(`${id} is ${status}${reason === undefined || reason === null ? '' : `, waiting for: ${reason}`}`)
