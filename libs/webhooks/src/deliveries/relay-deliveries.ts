import { randomBytes } from 'node:crypto'
import type { Pool } from '@toolyard/db/pool'
import type { Queues } from '@toolyard/queue/queues'
import { triesMax } from './decide-next.ts'
import { toDeliveryJob } from './delivery-job.ts'
import { dropVoid } from './drop-void.ts'
import { dependencies, isVoid } from './is-void.ts'
import { placesMax } from './judge-look.ts'

// A try whose worker is gone counts as one that failed, for the message and not for its webhook.
// index: deliveries_sending
const takeBack = `
  with lost as (
    update deliveries
    set status = case when tries < ${triesMax} then 'waiting' else 'dead' end, token = null, lease_until = null,
      due_at = clock_timestamp(), ended_at = case when tries < ${triesMax} then null else clock_timestamp() end
    where id = any(array(
      select id from deliveries where status = 'sending' and lease_until < clock_timestamp()
      limit 1000 for update skip locked))
    returning id, tries, begun_at
  )
  insert into delivery_tries (delivery_id, try, started_at, took_ms, fault)
  select id, tries, begun_at, 0, 'lost: the worker that made it is gone' from lost
  on conflict do nothing`

// From one receiver to the next, however much waits for each: what is paused or has no place must not hide the others.
// index: deliveries_waiting
const findDue = `
  with recursive known as (
    (select receiver from deliveries
      where status = 'waiting' and receiver >= $1 and receiver < $2 order by receiver limit 1)
    union all
    select (
      select other.receiver from deliveries as other
      where other.status = 'waiting' and other.receiver > known.receiver and other.receiver < $2
      order by other.receiver limit 1)
    from known where known.receiver is not null
  ),
  receivers as materialized (select receiver from known where receiver is not null limit $3)
  select one.id, one.tries, one.key_id, one.receiver, ${isVoid} as is_void,
    webhook.paused_reason is not null as is_paused
  from receivers
  cross join lateral (
    select * from deliveries as due
    where due.receiver = receivers.receiver and due.status = 'waiting' and due.due_at <= statement_timestamp()
    order by due.due_at limit ${placesMax}
  ) as one ${dependencies}`

type Due = {
  id: string
  tries: number
  key_id: string
  receiver: string
  is_void: boolean
  is_paused: boolean
}

// In each run so many receivers, from anywhere on: with more of them, each gets its turn in some run.
const receiversMax = 2_000
const ofKeyMax = 100
const [lowest, highest] = ['', 'g']

/** Brings to the queue what it has lost or never got, the next of each receiver. What it has is not added twice. */
export async function relayDeliveries(pool: Pool, queues: Pick<Queues, 'enqueue'>): Promise<number> {
  await pool.query(takeBack)
  const due = await findSome(pool)
  const isVoidAt = new Set(due.filter((one) => one.is_void).map(({ receiver }) => receiver))
  for (const receiver of isVoidAt) await dropVoid(pool, receiver)
  const open = fewOfEachKey(due.filter((one) => !one.is_void && !one.is_paused))
  if (open.length > 0)
    await queues.enqueue(
      'deliveries',
      open.map((one) => toDeliveryJob(one)),
    )
  return open.length
}

async function findSome(pool: Pool): Promise<Due[]> {
  const start = randomBytes(16).toString('hex')
  const ask = async (from: string, to: string) =>
    (await pool.query<Due>(findDue, [from, to, receiversMax])).rows
  return [...(await ask(start, highest)), ...(await ask(lowest, start))]
}

/** Whoever names many hosts gets no more jobs than others. */
function fewOfEachKey(due: readonly Due[]): Due[] {
  const byKey = Map.groupBy(due, (one) => one.key_id)
  return [...byKey.values()].flatMap((ofKey) => ofKey.slice(0, ofKeyMax))
}
