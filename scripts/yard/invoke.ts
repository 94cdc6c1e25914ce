import { parseArgs } from 'node:util'
import { idempotencyKey, invocationShape, isFinal } from '@toolyard/contract/invocations'
import { askingOptions, openDesk } from './api/desk.ts'
import { invocationLines } from './invocation/invocation-lines.ts'
import { readAnswer } from './api/open-api.ts'
import { onlyWord, readObject, requireToolName } from './arguments/read-arguments.ts'
import { oneLine } from './text/terminal-text.ts'
import { UsageFault } from './arguments/usage-fault.ts'
import { watchToEnd } from './watch.ts'

/** Exit code 0: it is accepted, or with `--wait` it succeeded. */
export async function invoke(args: string[]): Promise<number> {
  const options = {
    ...askingOptions,
    params: { type: 'string', default: '{}' },
    topic: { type: 'string' },
    wait: { type: 'boolean', default: false },
    'idempotency-key': { type: 'string' },
  } as const
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const name = requireToolName(onlyWord(positionals, 'NAME'))
  const key = readIdempotencyKey(values['idempotency-key'])
  const params = await readObject('--params', values.params)
  const desk = openDesk(values)
  const body = { params, ...(values.topic !== undefined && { topic: values.topic }) }
  const call = { method: 'POST', body, idempotencyKey: key } as const
  const answer = await desk.api.call(`/tools/${name}/invoke`, call)
  const invocation = readAnswer(invocationShape, answer)
  if (values.wait && !isFinal(invocation.status))
    return watchToEnd(desk, invocation.id, values.json ? 'result' : 'lines')
  desk.tell(answer, (paint) => invocationLines(invocation, paint))
  if (!isFinal(invocation.status)) desk.note(oneLine(`Follow it with ./yard watch ${invocation.id}`))
  return values.wait && invocation.status !== 'succeeded' ? 1 : 0
}

function readIdempotencyKey(typed: string | undefined): string | undefined {
  const parsed = idempotencyKey.optional().safeParse(typed)
  if (parsed.success) return parsed.data
  throw new UsageFault('--idempotency-key must be 1 to 255 printable ASCII characters without spaces')
}
