import { createHash } from 'node:crypto'
import type { AccessKey } from '@toolyard/access/access-key'
import type { AppError, ErrorCode } from '@toolyard/contract/errors'
import type { NotificationBody, NotifiedShape } from '@toolyard/contract/prompts'
import { resolveTopic } from '@toolyard/invocations/resolve-topic'
import { toRefusal } from '../../http/problem.ts'
import type { SubmitRequestDeps } from '../invocations/submit-request.ts'
import { submitRequest } from '../invocations/submit-request.ts'

export type Notifying = {
  key: AccessKey
  tools: readonly string[]
  notification: NotificationBody
  idempotencyKey: string | undefined
  /** What broke on our side for one of them. */
  onFault: (cause: unknown) => void
}

type Answer =
  | { tool: string; kind: 'called'; id: string; replayed: boolean }
  | { tool: string; kind: 'not'; refusal: AppError }

// Each asks the database of its settings.
const atOnceMax = 50

/** Calls each of these tools with the message. `isReplayed`: an earlier request made all of the calls. */
export async function notifyTools(
  deps: SubmitRequestDeps,
  notifying: Notifying,
): Promise<{ answer: NotifiedShape; isReplayed: boolean }> {
  const { key, tools, notification, onFault } = notifying
  // A topic that the key may not name is no fault of any tool.
  if (tools.length > 0) resolveTopic(key, notification.topic)
  const answers: Answer[] = []
  for (let at = 0; at < tools.length; at += atOnceMax)
    answers.push(
      ...(await Promise.all(tools.slice(at, at + atOnceMax).map((tool) => notifyOne(deps, notifying, tool)))),
    )
  const called = answers.filter((one) => one.kind === 'called')
  const skipped = answers.filter((one) => one.kind === 'not')
  const whole = skipped.find(({ refusal }) => isOfWhole(refusal.code, called.length))
  if (whole !== undefined) throw whole.refusal
  for (const { refusal } of skipped) if (refusal.code === 'internal') onFault(refusal.cause)
  return {
    answer: { invocations: called.map(({ tool, id }) => ({ tool, id })), skipped: skipped.map(toSkipped) },
    isReplayed: called.length > 0 && called.every(({ replayed }) => replayed),
  }
}

async function notifyOne(
  deps: SubmitRequestDeps,
  { key, notification: { message, topic }, idempotencyKey }: Notifying,
  tool: string,
): Promise<Answer> {
  try {
    const { invocation, replayed } = await submitRequest(deps, {
      key,
      tool,
      body: { params: { message }, topic },
      idempotencyKey: idempotencyKey === undefined ? undefined : keyOf(idempotencyKey, tool),
    })
    return { tool, kind: 'called', id: invocation.id, replayed }
  } catch (error) {
    return { tool, kind: 'not', refusal: toRefusal(error) }
  }
}

/** One for each tool. No caller can name it for a call of the tool: theirs hold no blank. */
const keyOf = (idempotencyKey: string, tool: string) =>
  `notification ${createHash('sha256')
    .update(JSON.stringify([idempotencyKey, tool]))
    .digest('base64url')}`

/** What is no matter of one tool refuses the request; once some are called, their ids are worth more. */
function isOfWhole(code: ErrorCode, calledCount: number): boolean {
  if (code === 'idempotency_mismatch') return true
  return calledCount === 0 && ['tools_disabled', 'store_unavailable', 'rate_limited'].includes(code)
}

function toSkipped({ tool, refusal }: { tool: string; refusal: AppError }): NotifiedShape['skipped'][number] {
  const { code, message, faults } = refusal
  const details = faults.map(({ pointer, detail }) => `${pointer} ${detail}`)
  return { tool, code, detail: [message, ...details].join('; ') }
}
