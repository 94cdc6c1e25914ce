import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { Next } from './decide-next.ts'

export type EndedTry = {
  id: string
  token: string
  try: number
  startedAt: Date
  tookMs: number
  status: number | null
  fault: string | null
  answer: string | null
  next: Next
}

/** After so long without any that arrived a webhook is paused. */
const failingMax = "interval '3 days'"
// Longer than the longest pause between the tries of one message: a webhook that had nothing to fail with in between
// fails since now, not since then.
const silenceMax = "interval '2 days'"
// Tries of one webhook end many at a time; who fails is written this often.
const notedEvery = "interval '1 minute'"

const isFailing = `webhooks.failed_at > clock_timestamp() - ${silenceMax}`
const isTooMuch = `concerned.verdict = 'failed' and webhooks.paused_at is null and ${isFailing}
  and webhooks.failing_since < clock_timestamp() - ${failingMax}`

// Fenced: a try that was taken for lost writes nothing. One statement, so that all of a try is there or nothing. It locks
// deliveries and then webhooks, those by their ids and only where something changes; nobody who has locked a webhook
// waits for a delivery that is under way.
// indexes: deliveries_pkey, delivery_tries_pkey, webhooks_pkey
const end = prepared(`
  with given as materialized (
    select * from json_to_recordset($1::json) as one (id text, token uuid, status text, verdict text,
      after_ms double precision, try integer, started_at timestamptz, took_ms integer, status_code integer,
      fault text, answer text)
  ),
  ended as (
    update deliveries as one
    set status = given.status, token = null, lease_until = null,
      due_at = clock_timestamp() + given.after_ms * interval '1 ms',
      ended_at = case when given.status = 'waiting' then null else clock_timestamp() end
    from given where one.id = given.id and one.token = given.token
    returning one.id, one.webhook_id, given.verdict
  ),
  noted as (
    insert into delivery_tries (delivery_id, try, started_at, took_ms, status_code, fault, answer)
    select given.id, given.try, given.started_at, given.took_ms, given.status_code, given.fault, given.answer
    from ended join given on given.id = ended.id
    on conflict do nothing
  ),
  concerned as materialized (
    select webhooks.id, judged.verdict
    from (
      select webhook_id, case when bool_or(verdict = 'gone') then 'gone' when bool_or(verdict = 'arrived') then 'arrived'
        else 'failed' end as verdict
      from ended where webhook_id is not null group by webhook_id
    ) as judged
    join webhooks on webhooks.id = judged.webhook_id
    where case judged.verdict when 'gone' then webhooks.enabled when 'arrived' then webhooks.failed_at is not null
      else webhooks.failed_at is null or webhooks.failed_at < clock_timestamp() - ${notedEvery} end
    order by webhooks.id
    for update of webhooks
  ),
  judged as (
    update webhooks
    set enabled = webhooks.enabled and concerned.verdict <> 'gone',
      dropped_at = case concerned.verdict when 'gone' then clock_timestamp() else webhooks.dropped_at end,
      updated_at = case concerned.verdict when 'gone' then clock_timestamp() else webhooks.updated_at end,
      failed_at = case concerned.verdict when 'arrived' then null when 'failed' then clock_timestamp()
        else webhooks.failed_at end,
      failing_since = case when concerned.verdict = 'arrived' then null
        when concerned.verdict = 'failed' and (${isFailing}) is not true then clock_timestamp()
        else webhooks.failing_since end,
      paused_at = case when ${isTooMuch} then clock_timestamp() else webhooks.paused_at end,
      paused_reason = case when ${isTooMuch} then 'nothing has arrived since '
        || to_char(webhooks.failing_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
        else webhooks.paused_reason end
    from concerned where webhooks.id = concerned.id
  )
  select id from ended`)

const statuses = { delivered: 'delivered', again: 'waiting', dead: 'dead', gone: 'dead' } as const
const verdicts = { delivered: 'arrived', again: 'failed', dead: 'failed', gone: 'gone' } as const

/** Writes what came of tries, with what it means for their webhooks. The ids of those that were not taken for lost before. */
export async function endTries(sql: Sql, tries: readonly EndedTry[]): Promise<ReadonlySet<string>> {
  const given = tries.map(({ next, startedAt, tookMs, status, ...rest }) => ({
    ...rest,
    status: statuses[next.kind],
    verdict: verdicts[next.kind],
    after_ms: next.kind === 'again' ? next.afterMs : 0,
    started_at: startedAt.toISOString(),
    took_ms: tookMs,
    status_code: status,
  }))
  const { rows } = await sql.query<{ id: string }>(end([JSON.stringify(given)]))
  return new Set(rows.map(({ id }) => id))
}
