import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { Hold } from './claim.ts'

// A lease that has run out may be taken back at any moment: nothing is started on it any more.
const record = prepared(`
  with held as (
    update invocations set handed_over_at = clock_timestamp()
    where id = $1 and attempt_token = $2 and status = 'running' and cancel_requested_at is null
      and lease_until > clock_timestamp()
    returning id, attempts
  )
  update attempts set container_id = $3, handed_over_at = clock_timestamp()
  from held
  where attempts.invocation_id = any(array[held.id]) and attempts.attempt = held.attempts`)

const look = `
  select 1 from invocations
  where id = $1 and attempt_token = $2 and status = 'running' and cancel_requested_at is not null`

/**
 * Says that the payload is about to go into this container. For a tool that must not run twice (`rerun: false`) wait
 * for the answer and hand over nothing unless it is `held`: a row that does not know would be started again.
 */
export async function recordHandover(
  sql: Sql,
  { id, token }: Hold,
  containerId: string,
): Promise<'held' | 'cancel_requested' | 'lost'> {
  const recorded = await sql.query(record([id, token, containerId]))
  if (recorded.rowCount === 1) return 'held'
  const found = await sql.query(look, [id, token])
  return found.rowCount === 1 ? 'cancel_requested' : 'lost'
}
