import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { ClosedInvocation } from '@toolyard/invocations/close-rows'
import { newIdStem, numberedId } from './delivery.ts'
import { listening, mayHear } from './is-told.ts'
import { placesMax } from './judge-look.ts'
import { callbackReceiver, webhookReceiver } from './receiver.ts'

// Every end pays for this, and mostly nobody is told: then it takes 0.1 ms. The ends come as JSON because Postgres
// guesses their number without looking, so that one plan is as good as another and is made once; of arrays it knows the
// length, and would plan anew each time for 0.5 ms. For the same reason callbacks are looked up one by one.
// By invocation, so that those who are told first are many, and not all of the first webhook.
// A webhook that has both events gets one message. deliveries_once keeps a second finish from telling twice.
// index: invocation_inputs_pkey; webhooks are few, and read whole.
const insert = prepared(`
  with closed as materialized (
    select *, (select input.callback_url from invocation_inputs as input where input.id = one.invocation_id) as callback_url
    from json_to_recordset($1::json)
      as one (invocation_id text, tool text, topic text, key_id text, status text)
  ),
  ${listening},
  told as (
    select closed.invocation_id, closed.tool, closed.topic, webhook.id as webhook_id, webhook.key_id,
      null as url, ${webhookReceiver('webhook.id')} as receiver,
      case when 'invocation.finished' = any(webhook.events) then 'invocation.finished' else 'invocation.failed' end
        as event
    from closed
    join listening as webhook on ${mayHear('closed.tool', 'closed.topic')}
      and ('invocation.finished' = any(webhook.events)
        or ('invocation.failed' = any(webhook.events) and closed.status in ('failed', 'timed_out')))
    union all
    select invocation_id, tool, topic, null, key_id, callback_url, ${callbackReceiver('key_id', 'callback_url')},
      'invocation.finished'
    from closed where callback_url is not null and key_id is not null
  )
  insert into deliveries (id, invocation_id, tool, topic, webhook_id, key_id, url, receiver, event, parked_by)
  select ${numberedId('$2', 'invocation_id, webhook_id')}, invocation_id, tool, topic, webhook_id, key_id, url, receiver,
    event, case when row_number() over (partition by receiver order by invocation_id) > ${placesMax} then 'receiver' end
  from told
  on conflict (invocation_id, webhook_id) where invocation_id is not null do nothing
  returning id, parked_by is null as is_called`)

/**
 * Who is to be told that these have ended. In the transaction that closes them: neither is there without the other. The
 * ids of those to begin with: the others are called, one for each that ends.
 */
export async function writeDeliveries(sql: Sql, closed: readonly ClosedInvocation[]): Promise<string[]> {
  const ends = closed.map(({ id, tool, topic, keyId, status }) => ({
    invocation_id: id,
    tool,
    topic,
    key_id: keyId,
    status,
  }))
  type Row = { id: string; is_called: boolean }
  const { rows } = await sql.query<Row>(insert([JSON.stringify(ends), newIdStem()]))
  return rows.filter((row) => row.is_called).map(({ id }) => id)
}
