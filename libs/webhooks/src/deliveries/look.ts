import type { Json } from '@toolyard/contract/parameters'
import type { WebhookEvent } from '@toolyard/contract/webhooks'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import { countPlaces, isFailing, joinPlaces, ofLate, underWay, underWayOfKey } from './count-places.ts'
import { idsIn } from './ids-in.ts'
import { dependencies, isVoid } from './is-void.ts'
import { nextsMax, perSecondMax } from './judge-look.ts'

/** A delivery, what it depends on, and what its receiver and its key have under way. */
export type Look = {
  id: string
  event: WebhookEvent
  key_id: string
  webhook_id: string | null
  invocation_id: string | null
  tool: string
  topic: string | null
  data: Readonly<Record<string, Json>> | null
  created_at: Date
  receiver: string
  /** Null: its webhook is gone. */
  url: string | null
  /** Of what a try depends on; null for a callback. */
  version: string | null
  secret_no: number | null
  is_overlapping: boolean | null
  waits: boolean
  is_void: boolean
  is_paused: boolean
  is_failing: boolean
  parked_by: 'receiver' | 'key' | null
  due_in_ms: number
  under_way: number
  of_key: number
  of_late: number
  /** When the first of the last second's tries is a second old. */
  room_in_ms: number | null
  /** Whether it is among the next of its receiver, where that was sent all it gets in this second. */
  is_next: boolean
}

const ms = (interval: string) => `(extract(epoch from ${interval}) * 1000)::double precision`

// Who is next is asked only where it matters: where the second is full.
// indexes: deliveries_pkey, webhooks_pkey, api_keys_pkey, callback_secrets_pkey, deliveries_waiting
const select = prepared(`
  with wanted as materialized (
    select id, key_id, receiver, webhook_id from deliveries where id = ${idsIn('$1')}
  ),
  ${countPlaces}
  select one.id, one.event, one.key_id, one.webhook_id, one.invocation_id, one.tool, one.topic, one.data, one.created_at,
    one.receiver, coalesce(one.url, webhook.url) as url, extract(epoch from webhook.updated_at)::text as version,
    coalesce(webhook.secret_no, callback.secret_no) as secret_no,
    coalesce(webhook.rotated_until, callback.rotated_until) > clock_timestamp() as is_overlapping,
    one.status = 'waiting' as waits, ${isVoid} as is_void, webhook.paused_reason is not null as is_paused,
    ${isFailing} as is_failing, one.parked_by, ${ms('one.due_at - clock_timestamp()')} as due_in_ms,
    ${underWay} as under_way, ${underWayOfKey} as of_key, ${ofLate} as of_late,
    ${ms("of_late.first_at + interval '1 second' - clock_timestamp()")} as room_in_ms,
    ${ofLate} >= ${perSecondMax} and one.id = any(array(
      select other.id from deliveries as other
      where other.receiver = one.receiver and other.status = 'waiting' order by other.due_at limit ${nextsMax}
    )) as is_next
  from deliveries as one ${joinPlaces('one')} ${dependencies}
  left join callback_secrets as callback on one.webhook_id is null and callback.key_id = one.key_id
  where one.id = ${idsIn('$1')}`)

/** As things stand; exact only for whoever has the receivers' turns and has locked the webhooks. */
export async function lookAt(sql: Sql, ids: readonly string[]): Promise<Map<string, Look>> {
  const { rows } = await sql.query<Look>(select([JSON.stringify(ids)]))
  return new Map(rows.map((row) => [row.id, row]))
}
