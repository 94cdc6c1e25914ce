import type { Queues } from '@toolyard/queue/queues'
import { admitWaiting } from './admit-waiting.ts'
import type { Deps, ReadyJob } from './after-commit.ts'
import { toJob } from './after-commit.ts'

export type Relayed = {
  /** Rows that got a slot. */
  admitted: number
  /** Rows that a worker may be given now. */
  claimable: number
  /** Jobs that were added, most of which the queue will have had already. */
  added: number
}

const isClaimable = `gate = 'open' and status = 'queued'`

// index: invocations_open, which holds no more rows than the tools have slots
const countClaimable = `select count(*)::integer as count from invocations where ${isClaimable}`

const findClaimable = `
  select id, attempts + 1 as attempt, priority from invocations
  where ${isClaimable} and id > $1
  order by id limit 500`

const rowsMax = 100_000

/**
 * Brings back to the queue what it has lost or never got (I4): every 5 s the oldest rows, and all of them when it
 * holds less than there is, as after a wipe. What it has already is not added twice.
 */
export async function relay(deps: Deps, queues: Pick<Queues, 'enqueue' | 'counts'>): Promise<Relayed> {
  const admitted = await admitWaiting(deps)
  const counts = await queues.counts('invocations')
  const counted = await deps.pool.query<{ count: number }>(countClaimable)
  const claimable = counted.rows[0]?.count ?? 0
  const isShort = counts.waiting + counts.active + counts.delayed < claimable
  let added = 0
  let after = ''
  for (;;) {
    const { rows } = await deps.pool.query<ReadyJob>(findClaimable, [after])
    const last = rows.at(-1)
    if (last === undefined) break
    await queues.enqueue('invocations', rows.map(toJob))
    added += rows.length
    after = last.id
    if (!isShort || added >= rowsMax) break
  }
  return { admitted, claimable, added }
}
