import type { Call } from '@toolyard/access/actor'
import { writeAudit } from '@toolyard/access/write-audit'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { isDeliveryId } from './delivery.ts'
import { isReadable, readerOf } from './is-readable.ts'
import { noSuchDelivery } from './list-deliveries.ts'

const lock = `
  select one.status, one.tries,
    (one.webhook_id is null
      or exists (select from webhooks where id = one.webhook_id and enabled and paused_reason is null)) as is_open,
    exists (select from api_keys where id = one.key_id and revoked_at is null
      and (expires_at is null or expires_at > clock_timestamp())) as is_heard,
    one.invocation_id is null or exists (select from invocations where id = one.invocation_id) as is_known
  from deliveries as one where one.id = $1 and ${isReadable('$2', '$3')} for update`

const again = `
  update deliveries
  set status = 'waiting', parked_by = null, due_at = clock_timestamp(), wanted_at = clock_timestamp(), ended_at = null
  where id = $1`

type Row = { status: string; tries: number; is_open: boolean; is_heard: boolean; is_known: boolean }

/** Sends it once more, now: what is dead or dropped, and what waits for its time. The tries that it has had count. */
export function retryDelivery(pool: Pool, call: Call, id: string): Promise<{ id: string; tries: number }> {
  if (!isDeliveryId(id)) throw noSuchDelivery()
  return transaction(pool, async (sql) => {
    const { rows } = await sql.query<Row>(lock, [id, ...readerOf(call.actor)])
    const [row] = rows
    if (row === undefined) throw noSuchDelivery()
    const refusal = refusalOf(row)
    if (refusal !== undefined) throw refusal
    await sql.query(again, [id])
    await writeAudit(sql, call, { action: 'delivery.retry', target: `delivery:${id}`, detail: {} })
    return { id, tries: row.tries }
  })
}

function refusalOf({
  status,
  is_open: isOpen,
  is_heard: isHeard,
  is_known: isKnown,
}: Row): AppError | undefined {
  if (status === 'delivered') return new AppError('already_final', 'It has been delivered')
  if (status === 'sending') return new AppError('being_sent', 'It is being sent')
  if (!isHeard) return new AppError('key_inactive', 'Its key has expired or was revoked')
  if (!isOpen)
    return new AppError(
      'webhook_inactive',
      'Its webhook is disabled, paused or gone: resume or enable it first',
    )
  if (!isKnown) return new AppError('not_kept', 'The invocation that it tells of is kept no longer')
  return undefined
}
