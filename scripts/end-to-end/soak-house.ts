import { setTimeout as delay } from 'node:timers/promises'
import type { Queues } from '@toolyard/queue/queues'
import { createQueues } from '@toolyard/queue/queues'
import type { House, QueueKind } from '../house/open-house.ts'
import type { Progress } from '../services/terminal/progress.ts'
import { measureBatch, measureRate, residentBytes } from './measure.ts'
import type { BenchHouse } from './open-bench-house.ts'
import { withBenchHouse } from './open-bench-house.ts'
import { tools } from './tools.ts'

export type Sample = {
  atSeconds: number
  residentBytes: Record<string, number>
  jobs: number
  /** Rows that are not final. */
  open: number
  /** What the tables of invocations take for each row, and those of the queue altogether. */
  bytesPerRow: number
  queueBytes: number
}

export type SoakReport = {
  queue: QueueKind
  sustainedPerSecond: number
  perSecond: number
  calls: number
  failed: string[]
  samples: Sample[]
}

export type SoakOptions = {
  queue: QueueKind
  dockerHost: string
  minutes: number
  progress: Progress
}

// Of what it can sustain.
const share = 0.8
const sustained = { inFlight: 32, seconds: 15 }
const warmCalls = 300
const samples = 40
const failuresMax = 20

/** Calls the whole path for minutes, as many a second as it can do for ever, and looks at what grows. */
export async function soakHouse({ minutes, ...options }: SoakOptions): Promise<SoakReport> {
  const { queue, progress } = options
  return withBenchHouse(options, async (ground) => {
    const { client } = ground
    const once = () => client.run(tools.reuse.name)
    await measureBatch(once, { inFlight: 8, count: warmCalls })
    const sustainedPerSecond = await progress.step(`What ${queue} can sustain`, () =>
      measureRate(once, sustained),
    )
    const perSecond = sustainedPerSecond * share
    const seconds = minutes * 60
    const what = `${Math.round(perSecond)} calls a second for ${minutes} minutes on ${queue}`
    const [called, taken] = await progress.step(what, () =>
      Promise.all([callSteadily(once, { perSecond, seconds }), sample(ground, seconds)]),
    )
    return { queue, sustainedPerSecond, perSecond, ...called, samples: taken }
  })
}

async function callSteadily(
  call: () => Promise<void>,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<{ calls: number; failed: string[] }> {
  const beganAtMs = performance.now()
  const total = Math.floor(perSecond * seconds)
  const failed: string[] = []
  const running = new Set<Promise<void>>()
  for (let index = 0; index < total && failed.length < failuresMax; index++) {
    const dueAtMs = beganAtMs + (index * 1_000) / perSecond
    if (dueAtMs > performance.now()) await delay(dueAtMs - performance.now())
    const calling = call()
      .catch((error: unknown) => void failed.push(error instanceof Error ? error.message : String(error)))
      .finally(() => running.delete(calling))
    running.add(calling)
  }
  await Promise.all(running)
  return { calls: total, failed }
}

async function sample({ house }: BenchHouse, seconds: number): Promise<Sample[]> {
  const queues = openQueues(house)
  const taken: Sample[] = []
  const beganAtMs = performance.now()
  try {
    for (let index = 1; index <= samples; index++) {
      const dueAtMs = beganAtMs + (index * seconds * 1_000) / samples
      await delay(Math.max(0, dueAtMs - performance.now()))
      taken.push(await look(house, queues, (performance.now() - beganAtMs) / 1_000))
    }
    return taken
  } finally {
    await queues.close()
  }
}

const select = `
  select
    (select count(*)::float8 from invocations where gate <> 'closed') as open,
    (select count(*)::float8 from invocations) as rows,
    (select sum(pg_total_relation_size(name::regclass))::float8
      from unnest(array['invocations', 'invocation_inputs', 'invocation_outcomes', 'attempts']) as name) as bytes,
    (select coalesce(sum(pg_total_relation_size(format('bullmq.%I', tablename)::regclass)), 0)::float8
      from pg_tables where schemaname = 'bullmq') as queue_bytes`

type Row = { open: number; rows: number; bytes: number; queue_bytes: number }

async function look(house: House, queues: Queues, atSeconds: number): Promise<Sample> {
  const [found, counts] = await Promise.all([house.pool.query<Row>(select), queues.counts('invocations')])
  const row = found.rows[0] ?? { open: 0, rows: 0, bytes: 0, queue_bytes: 0 }
  return {
    atSeconds: Math.round(atSeconds),
    residentBytes: residentBytes(house),
    jobs: counts.waiting + counts.active + counts.delayed,
    open: row.open,
    bytesPerRow: Math.round(row.bytes / Math.max(1, row.rows)),
    queueBytes: row.queue_bytes,
  }
}

const openQueues = ({ databaseUrl, redis, redisPrefix }: House) =>
  createQueues({
    databaseUrl,
    redisUrl: redis?.url,
    redisPrefix,
    poolMax: 4,
    applicationName: 'toolyard-soak',
    onError: () => {},
  })
