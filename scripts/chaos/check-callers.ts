import { finalStatuses } from '@toolyard/contract/invocations'
import type { Violation } from './check-history.ts'
import type { CallHistory, History } from './history.ts'

/** Of what was written down, which is no more than text. */
export const isFinal = (status: string) => finalStatuses.some((final) => final === status)

/** What callers were told is what is: nothing accepted is lost, nothing final changes, one key is one invocation. */
export function checkCallers({ calls, rows }: History): Violation[] {
  const statusOf = new Map(rows.map(({ id, status }) => [id, status]))
  return [...calls.flatMap((call) => checkCall(call, statusOf)), ...checkUnasked(calls, statusOf)]
}

function checkCall(call: CallHistory, statusOf: ReadonlyMap<string, string>): Violation[] {
  const { plan, accepted, seen, refused, cancelled } = call
  const ids = new Set(accepted.map(({ id }) => id))
  const told = [...accepted, ...seen]
  const isPlanned = plan.repeats !== null || accepted.length <= 1
  return [
    ...refused.map((detail) => ({ rule: 'accepts', detail: `call ${plan.index} was refused: ${detail}` })),
    ...(ids.size > 1 && plan.repeats !== null
      ? [{ rule: 'idempotency', detail: `call ${plan.index} with one key made ${[...ids].join(', ')}` }]
      : []),
    ...(isPlanned
      ? []
      : [{ rule: 'idempotency', detail: `call ${plan.index} without a key has many answers` }]),
    ...[...ids]
      .filter((id) => !statusOf.has(id))
      .map((id) => ({ rule: 'I1', id, detail: `was accepted (call ${plan.index}) and is not there` })),
    ...told
      .filter(({ id, status }) => isFinal(status) && statusOf.get(id) !== status)
      .map(({ id, status }) => ({
        rule: 'I1',
        id,
        detail: `was told to be ${status}, and ended as ${statusOf.get(id)}`,
      })),
    ...[...ids].flatMap((id) => checkCancel(id, statusOf.get(id), cancelled)),
  ]
}

/** 200: it is cancelled. 202: whatever comes of it becomes that. 409: it had ended. */
function checkCancel(id: string, status: string | undefined, answer: number | undefined): Violation[] {
  if ((answer === 200 || answer === 202) && status !== 'cancelled')
    return [
      { rule: 'cancel', id, detail: `its cancelling was answered ${answer}, and it ended as ${status}` },
    ]
  return []
}

/** A row that nobody was told of comes from a request that got no answer, and no request makes two. */
function checkUnasked(calls: readonly CallHistory[], statusOf: ReadonlyMap<string, string>): Violation[] {
  const told = new Set(calls.flatMap(({ accepted }) => accepted.map(({ id }) => id)))
  const unasked = [...statusOf.keys()].filter((id) => !told.has(id))
  // With a key it is asked again until there is an answer, so these are of requests without one.
  const lost = calls.filter(({ plan, accepted }) => plan.repeats === null && accepted.length === 0)
  if (unasked.length <= lost.length) return []
  const detail = `${unasked.length} invocations that nobody was told of, from ${lost.length} requests without an answer: ${unasked.join(', ')}`
  return [{ rule: 'idempotency', detail }]
}
