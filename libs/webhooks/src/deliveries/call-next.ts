import type { NewJob } from '@toolyard/queue/stored-job'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import { countPlaces, isFailing, joinPlaces, ofLate, underWay, underWayOfKey } from './count-places.ts'
import { toDeliveryJob } from './delivery-job.ts'
import { idsIn } from './ids-in.ts'
import { perSecondMax, placesMax, placesOfFailingMax, placesOfKeyMax } from './judge-look.ts'

// Of the receiver as many as have room beside those who are called already, whether their key has room or not: who finds
// that it has none is parked for the key. One at least where this second is full, because there may be nobody else who
// waits for the next one.
// indexes: deliveries_pkey, webhooks_pkey, deliveries_called, deliveries_parked_by_key, deliveries_parked
const call = prepared(`
  with wanted as materialized (
    select distinct receiver, key_id, webhook_id from deliveries where id = ${idsIn('$1')}
  ),
  ${countPlaces},
  rooms as materialized (
    select wanted.receiver, wanted.key_id, greatest(0, ${placesOfKeyMax} - ${underWayOfKey}) as of_key,
      greatest(0, least(
        case when ${isFailing} then ${placesOfFailingMax} else ${placesMax} end - ${underWay},
        greatest(1, ${perSecondMax} - ${ofLate})) - called.count) as of_receiver
    from wanted ${joinPlaces('wanted')}
    left join webhooks as webhook on webhook.id = wanted.webhook_id
    cross join lateral (
      select count(*)::integer as count from (
        select from deliveries as one
        where one.receiver = wanted.receiver and one.status = 'waiting' and one.parked_by is null
          and one.due_at <= statement_timestamp()
        order by one.due_at limit ${placesMax}
      ) as first
    ) as called
  ),
  of_key as materialized (
    select one.id
    from (select key_id, min(of_key) as room from rooms group by key_id) as keys
    cross join lateral (
      select waiting.id from deliveries as waiting
      where waiting.key_id = keys.key_id and waiting.status = 'waiting' and waiting.parked_by = 'key'
        and waiting.due_at <= statement_timestamp()
      order by waiting.due_at limit keys.room
      for update skip locked
    ) as one
  ),
  of_receiver as materialized (
    select one.id
    from rooms
    cross join lateral (
      select waiting.id from deliveries as waiting
      where waiting.receiver = rooms.receiver and waiting.status = 'waiting' and waiting.parked_by = 'receiver'
        and waiting.due_at <= statement_timestamp()
      order by waiting.due_at limit rooms.of_receiver
      for update skip locked
    ) as one
  )
  update deliveries set parked_by = null
  where id = any(array(select id from of_key union all select id from of_receiver))
  returning id, receiver, tries`)

export type Called = { receiver: string; job: NewJob<'deliveries'> }

/**
 * Those that are parked, for the places that are free now that these tries have ended. A token gives their jobs the ids,
 * because the jobs that found no place may just be ending.
 */
export async function callNext(
  sql: Sql,
  ended: { ids: readonly string[]; token: string },
): Promise<Called[]> {
  type Row = { id: string; receiver: string; tries: number }
  const { rows } = await sql.query<Row>(call([JSON.stringify(ended.ids)]))
  return rows.map((row) => ({ receiver: row.receiver, job: toDeliveryJob(row, ended.token) }))
}
