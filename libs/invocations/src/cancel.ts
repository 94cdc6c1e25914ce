import type { Actor } from '@toolyard/access/actor'
import type { Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { admitNext } from './admit.ts'
import type { Deps, Effects } from './after-commit.ts'
import type { Within } from './close-rows.ts'
import { closeRows } from './close-rows.ts'
import { cancelledFailure as failure } from './decide-end.ts'
import type { FinalStatus } from '@toolyard/contract/invocations'
import { isFinal } from '@toolyard/contract/invocations'
import type { LockedRow } from './locked-row.ts'
import { lockedColumns } from './locked-row.ts'
import { bindingsOf, isInvocationId, isVisible, notFound } from './visible.ts'

export type Cancelled =
  | { kind: 'cancelled' }
  /** It runs: whoever holds it was told, and whatever it writes becomes `cancelled`. */
  | { kind: 'requested' }
  | { kind: 'already_final'; status: FinalStatus }

// Waits for a claim or a finish that is just being committed: what was first wins.
const lock = `
  select ${lockedColumns} from invocations
  where id = $1 and ${isVisible('$2', '$3')}
  for no key update`

const request = `
  update invocations set cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp())
  where id = $1 and status = 'running'`

export async function cancel(
  { pool, afterCommit }: Deps,
  actor: Actor,
  input: { id: string; within?: Within | undefined },
): Promise<Cancelled> {
  if (!isInvocationId(input.id)) throw notFound()
  const { cancelled, effects } = await transaction(pool, async (sql) => {
    const found = await sql.query<LockedRow>(lock, [input.id, ...bindingsOf(actor)])
    const row = found.rows[0]
    if (row === undefined) throw notFound()
    return cancelRow(sql, row, input.within)
  })
  afterCommit.run(effects)
  return cancelled
}

async function cancelRow(
  sql: Sql,
  row: LockedRow,
  within: Within | undefined,
): Promise<{ cancelled: Cancelled; effects: Effects }> {
  if (isFinal(row.status)) return { cancelled: { kind: 'already_final', status: row.status }, effects: {} }
  if (row.status === 'running') {
    await sql.query(request, [row.id])
    return { cancelled: { kind: 'requested' }, effects: { cancelRequested: [row.id] } }
  }
  const ending = { status: 'cancelled', result: null, failure, reward: null, budgetRemaining: null } as const
  const told = await closeRows(sql, [{ row, ...ending }], within)
  const jobs = row.gate === 'open' ? await admitNext(sql, [row.tool]) : []
  return { cancelled: { kind: 'cancelled' }, effects: { ...told, finished: [row.id], jobs } }
}
