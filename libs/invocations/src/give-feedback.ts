import type { Actor } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { Pool, Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import type { InvocationStatus } from '@toolyard/contract/invocations'
import { isFinal } from '@toolyard/contract/invocations'
import { bindingsOf, isInvocationId, isVisible, notFound } from './visible.ts'

export type GivenFeedback = {
  id: string
  tool: string
  topic: string
  status: InvocationStatus
  feedback: number
  /** What the outcome was worth until now. */
  replacedReward: number
}

export type FeedbackAnswer =
  | { kind: 'given'; given: GivenFeedback }
  /** One per invocation. */
  | { kind: 'already_given'; feedback: number }
  | { kind: 'not_final' }
  /** Cancelled, expired, or ended by a fault of ours: the tool had no part in it. */
  | { kind: 'not_counted' }

export type FeedbackInput = {
  id: string
  /** -1 to 1 */
  feedback: number
  /** Moves the memory, in the same transaction. */
  within?: ((sql: Sql, given: GivenFeedback) => Promise<void>) | undefined
}

const lock = `
  select id, tool, topic, status, reward, feedback from invocations
  where id = $1 and ${isVisible('$2', '$3')}
  for no key update`

// I3: the feedback moves the memory once.
const give = `update invocations set feedback = $2, reward = $2 where id = $1 and feedback is null`

type Row = {
  id: string
  tool: string
  topic: string
  status: InvocationStatus
  reward: number | null
  feedback: number | null
}

export async function giveFeedback(
  pool: Pool,
  actor: Actor,
  { id, feedback, within }: FeedbackInput,
): Promise<FeedbackAnswer> {
  if (!isInvocationId(id)) throw notFound()
  if (!(feedback >= -1 && feedback <= 1)) {
    const faults = [{ pointer: '/feedback', detail: 'must be a number from -1 to 1' }]
    throw new AppError('invalid_request', 'The request has faults', { faults })
  }
  return transaction(pool, async (sql) => {
    const found = await sql.query<Row>(lock, [id, ...bindingsOf(actor)])
    const row = found.rows[0]
    if (row === undefined) throw notFound()
    if (!isFinal(row.status)) return { kind: 'not_final' }
    if (row.feedback !== null) return { kind: 'already_given', feedback: row.feedback }
    if (row.reward === null) return { kind: 'not_counted' }
    await sql.query(give, [id, feedback])
    const { tool, topic, status } = row
    const given = { id, tool, topic, status, feedback, replacedReward: row.reward }
    await within?.(sql, given)
    return { kind: 'given', given }
  })
}
