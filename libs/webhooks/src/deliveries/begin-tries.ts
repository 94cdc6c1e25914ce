import type { Pool, Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import { transaction } from '@toolyard/db/transaction'
import { idsIn } from './ids-in.ts'
import type { NotYet } from './judge-look.ts'
import { judgeLooks } from './judge-look.ts'
import type { Look } from './look.ts'
import { lookAt } from './look.ts'

/** A delivery, what it was made ready with, for it begins only while that is still so, and how it is started. */
export type Beginning<T> = { id: string; version: string | null; start: () => T }

export type Begun<T> =
  | { kind: 'begun'; try: number; token: string; underWay: T }
  /** Its webhook has changed since: make it ready anew. */
  | { kind: 'changed' }
  /** Another process is just beginning to the same receiver, or its webhook is being written. */
  | { kind: 'contended' }
  | NotYet

/** How long a try may take before others take it for lost: its deadline, and then some. */
const tryLeaseSeconds = 60

// Whoever begins to one receiver does so one after the other. The share of the webhook's row is held until the try has
// started: whoever disables it waits for that, and no try starts after it. Nobody waits here: who did would keep a
// connection from those who have work for it, and could wait for whoever waits for him.
// indexes: deliveries_pkey, webhooks_pkey
const take = prepared(`
  select one.id, pg_try_advisory_xact_lock(hashtextextended('delivery ' || one.receiver, 0)) as has_turn,
    one.webhook_id is null or shared.id is not null as has_share
  from deliveries as one
  left join lateral (
    select webhook.id from webhooks as webhook where webhook.id = one.webhook_id for share skip locked
  ) as shared on true
  where one.id = ${idsIn('$1')}`)

// index: deliveries_pkey
const begin = prepared(`
  update deliveries
  set status = 'sending', parked_by = null, tries = tries + 1, token = gen_random_uuid(),
    begun_at = clock_timestamp(), lease_until = clock_timestamp() + interval '${tryLeaseSeconds} seconds'
  where id = ${idsIn('$1')} and status = 'waiting'
  returning id, tries, token`)

type Taken = { id: string; has_turn: boolean; has_share: boolean }
type Row = { id: string; tries: number; token: string }

/**
 * Takes deliveries for a try each and starts it: `start` is called when everything allows it, and before that is
 * committed. A commit that fails leaves tries that nobody knows of; the same messages then come twice, under the same ids.
 */
export function beginTries<T>(pool: Pool, items: readonly Beginning<T>[]): Promise<Begun<T>[]> {
  return transaction(pool, (sql) => beginWithin(sql, items), { opensHarmlessly: true })
}

async function beginWithin<T>(sql: Sql, items: readonly Beginning<T>[]): Promise<Begun<T>[]> {
  const ids = JSON.stringify(items.map(({ id }) => id))
  // Sent together, carried out one after the other: what is looked at is what was taken before.
  const [{ rows: taken }, looks] = await Promise.all([
    sql.query<Taken>(take([ids])),
    lookAt(
      sql,
      items.map(({ id }) => id),
    ),
  ])
  const takenById = new Map(taken.map((one) => [one.id, one]))
  const obstacles = items.map(({ id, version }) => obstacleOf(takenById.get(id), looks.get(id), version))
  const free = items.filter((_, index) => obstacles[index] === undefined)
  const verdicts = judgeLooks(free.map(({ id }) => looks.get(id)))
  const allowed = free.filter((_, index) => verdicts[index] === undefined)
  const begun = await beginThose(sql, allowed)
  return items.map((item, index): Begun<T> => {
    const notYet = obstacles[index] ?? verdicts[free.indexOf(item)]
    if (notYet !== undefined) return notYet
    const row = begun.get(item.id)
    // The second of two jobs for one delivery.
    if (row === undefined) return { kind: 'not_now' }
    begun.delete(item.id)
    return { kind: 'begun', try: row.tries, token: row.token, underWay: item.start() }
  })
}

async function beginThose(sql: Sql, items: readonly { id: string }[]): Promise<Map<string, Row>> {
  if (items.length === 0) return new Map()
  const { rows } = await sql.query<Row>(begin([JSON.stringify(items.map(({ id }) => id))]))
  return new Map(rows.map((row) => [row.id, row]))
}

function obstacleOf(
  taken: Taken | undefined,
  look: Look | undefined,
  version: string | null,
): { kind: 'contended' | 'changed' | 'not_now' } | undefined {
  if (taken === undefined || look === undefined) return { kind: 'not_now' }
  // Of a webhook that is gone nothing can be shared, and nothing is sent to it: the look says so.
  if (!taken.has_turn || (!taken.has_share && look.url !== null)) return { kind: 'contended' }
  return look.version === version || look.url === null ? undefined : { kind: 'changed' }
}
