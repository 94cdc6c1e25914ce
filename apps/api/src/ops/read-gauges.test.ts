import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCatalog } from '@toolyard/catalog/create-catalog'
import { createPool } from '@toolyard/db/pool'
import { imagesQueue } from '@toolyard/queue/names'
import { prepareQueueSchema } from '@toolyard/queue/schema'
import { testDatabase } from '@toolyard/testkit/database'
import { buildTool, newManifest, publishTools, testEngine } from '../fixtures/published-tools.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey } from '../fixtures/test-keys.ts'
import { createGaugeReader } from './create-gauge-reader.ts'
import { gauges } from './gauges.ts'
import { readGauges } from './read-gauges.ts'

const { pool, url: databaseUrl } = await testDatabase()
await prepareQueueSchema(pool)
const viewer = await makeKey(pool, { scopes: ['ops:view'] })

const secret = { token: { description: 'd', secret: true, required: true } }
await publishTools(pool, [
  newManifest('plain'),
  newManifest('locked', { config_schema: secret }),
  newManifest('off'),
])
await buildTool(pool, 'plain')
await buildTool(pool, 'locked', 'it broke')
await pool.query(`update tools set enabled = false where name = 'off'`)
await pool.query(
  `insert into tool_memory (tool, weight, recent, budget_remaining) values ('plain', 1.25, 0.5, 7), ('gone', 2, 1, 1)`,
)
await pool.query(`insert into workers (id, engine_id, slots) values ('w', 'e', 16), ('v', 'e', 8)`)
await pool.query(
  `insert into workers (id, engine_id, slots, seen_at) values ('dead', 'e', 99, now() - interval '1 hour')`,
)

/** Rows as they stand at one gate, `ageSeconds` after they could have run. */
async function insertRows(
  count: number,
  row: { gate: string; status: string; ageSeconds: number; id: string },
) {
  const isRunning = row.status === 'running'
  const final = row.gate === 'closed' ? row.status : null
  await pool.query(
    `insert into invocations (id, tool, topic, status, gate, priority, due_at, not_before, expires_at,
       submitted_hash, attempt_token, lease_until, final_status, finished_at)
     select $1 || n, 'plain', 't', $2, $3, 5, at, at, now() + interval '1 hour', 'h',
       case when $4::boolean then gen_random_uuid() end, case when $4::boolean then at end, $5::text, case when $5::text is not null then now() end
     from (select n, now() - make_interval(secs => $6::integer - n) as at from generate_series(1, $7) as n) as row`,
    [row.id, row.status, row.gate, isRunning, final, row.ageSeconds, count],
  )
}
await insertRows(3, { id: 'inv_a', gate: 'open', status: 'queued', ageSeconds: 100 })
await insertRows(2, { id: 'inv_b', gate: 'open', status: 'running', ageSeconds: -100 })
await insertRows(1, { id: 'inv_c', gate: 'open', status: 'running', ageSeconds: 60 })
await insertRows(4, { id: 'inv_d', gate: 'held', status: 'queued', ageSeconds: 200 })
await insertRows(5, { id: 'inv_e', gate: 'delayed', status: 'queued', ageSeconds: 30 })
await insertRows(6, { id: 'inv_f', gate: 'closed', status: 'succeeded', ageSeconds: 900 })

async function scrape(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`, { headers: bearer(viewer.token) })).text()
  return new Map(
    text
      .split('\n')
      .filter((line) => line.startsWith('toolyard_'))
      .map((line): [string, number] => {
        const at = line.lastIndexOf(' ')
        return [line.slice('toolyard_'.length, at), Number(line.slice(at + 1))]
      }),
  )
}

for (const queueBackend of ['redis', 'postgres'] as const) {
  test(`${queueBackend}: the figures of the whole are those of the rows`, async () => {
    const { url, queues } = await testApi({ databaseUrl, queueBackend })
    await queues.enqueue('deliveries', [{ id: 'd', data: { deliveryId: 'd' }, delayMs: 600_000 }])
    const found = await scrape(url)
    const exactly = {
      gauges_readable: 1,
      'invocations_waiting{gate="open"}': 3,
      'invocations_waiting{gate="held"}': 4,
      'invocations_waiting{gate="delayed"}': 5,
      invocations_running: 3,
      attempts_stale: 1,
      worker_slots: 24,
      'queue_jobs{queue="deliveries",state="delayed"}': 1,
      'queue_jobs{queue="invocations",state="waiting"}': 0,
      [`queue_jobs{queue="${imagesQueue(testEngine)}",state="active"}`]: 0,
      [`images{engine="${testEngine}",state="ready"}`]: 1,
      [`images{engine="${testEngine}",state="error"}`]: 1,
      [`images{engine="${testEngine}",state="wanted"}`]: 1,
      'tools{status="system"}': 1,
      'tools{status="available"}': 1,
      'tools{status="disabled"}': 1,
      'tools{status="broken"}': 0,
      'processes{kind="worker",ready="true"}': 0,
      'tool_memory_weight{tool="plain"}': 1.25,
      'tool_memory_recent{tool="plain"}': 0.5,
      'tool_budget_remaining{tool="plain"}': 7,
    }
    for (const [series, value] of Object.entries(exactly)) assert.equal(found.get(series), value, series)
    assert.equal(found.has('tool_memory_weight{tool="gone"}'), false)
    // To the seconds that the test has taken since.
    const about = (series: string, seconds: number) => {
      const value = found.get(series) ?? Number.NaN
      assert.ok(value >= seconds && value < seconds + 60, `${series} ${value}`)
    }
    about('invocations_oldest_waiting_seconds{gate="open"}', 99)
    about('invocations_oldest_waiting_seconds{gate="held"}', 199)
    about('relay_lag_seconds', 29)
    const names = new Set([...found.keys()].map((series) => series.replace(/\{.*/, '')))
    for (const name of Object.keys(gauges)) assert.ok(names.has(name), name)
  })
}

test('who asks again within seconds is told the same, and the database is not asked', async () => {
  let nowMs = 0
  let reads = 0
  let isBroken = false
  const failures: unknown[] = []
  const gaugesOf = createGaugeReader({
    async read() {
      reads += 1
      if (isBroken) throw new Error('away')
      return [{ name: 'worker_slots', labels: {}, value: reads }]
    },
    onFailure: (error) => failures.push(error),
    monotonicMs: () => nowMs,
  })
  const first = await gaugesOf()
  nowMs = 4_999
  assert.equal(await gaugesOf(), first)
  nowMs = 5_000
  await Promise.all([gaugesOf(), gaugesOf(), gaugesOf()])
  assert.equal(reads, 2, 'all who ask at once share one read')
  isBroken = true
  nowMs = 10_000
  assert.deepEqual(
    (await gaugesOf()).map(({ name }) => name),
    ['toolyard_gauges_readable'],
  )
  await gaugesOf()
  assert.equal(failures.length, 1, 'told once an outage')
})

test('the figures of the whole are not multiplied by the processes that could tell them', async () => {
  const apis = await Promise.all([testApi({ databaseUrl }), testApi({ databaseUrl })])
  for (const { url } of apis) assert.equal((await scrape(url)).get('invocations_running'), 3)
  const shared = await pool.query<{ metrics: unknown }>('select metrics from processes')
  assert.doesNotMatch(JSON.stringify(shared.rows), /invocations_running/)
})

test('what has ended is never read, however much of it there is', async () => {
  await insertRows(20_000, { id: 'inv_g', gate: 'closed', status: 'failed', ageSeconds: 900 })
  await pool.query('analyze invocations')
  // One connection, because only its own session can be made to tell at once what it has read.
  const one = createPool({ url: databaseUrl, max: 1, applicationName: 'gauges-test', onIdleError: () => {} })
  const rowsRead = async () => {
    await one.query('select pg_stat_force_next_flush()')
    const found = await one.query<{ read: string }>(
      `select seq_tup_read + idx_tup_fetch as read from pg_stat_user_tables where relname = 'invocations'`,
    )
    return Number(found.rows[0]?.read)
  }
  const nothing = { waiting: 0, active: 0, delayed: 0 }
  const before = await rowsRead()
  await readGauges({ pool: one, catalog: createCatalog(one), queues: { counts: async () => nothing } })
  const read = (await rowsRead()) - before
  assert.ok(read > 0 && read < 100, String(read))
  await one.end()
})
