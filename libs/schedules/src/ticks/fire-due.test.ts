import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { transaction } from '@toolyard/db/transaction'
import {
  anotherScheduler,
  at,
  inWords,
  invocationOf,
  makeGround,
  waitUntilBlocked,
} from '../../fixtures/ground.ts'
import { lockSchedules } from '../schedules/lock-schedules.ts'
import { syncSchedules } from '../schedules/sync-schedules.ts'
import { createScheduleDeps, fireDue } from './fire-due.ts'
import { reconcile } from './reconcile.ts'
import { settle } from './settle.ts'

const ground = await makeGround()
const { deps, pool } = ground
const other = anotherScheduler(ground, ground.database.url)
after(() => other.close())

/** A tool whose schedule counts from 10:00 on. */
async function begin(name: string, cron: Parameters<typeof ground.makeCron>[1] = {}) {
  await ground.makeCron(name, { overlap: 'allow', ...cron })
  await syncSchedules(pool, at('10:00:00'))
}

type Stored = {
  delay: number
  topic: string
  key_id: null
  gate: string
  params: object
  metadata: object
  telemetry: object
}

async function storedCall(id: string): Promise<Stored | undefined> {
  const { rows } = await pool.query<Stored>(
    `select extract(epoch from not_before - created_at)::double precision as delay, topic, key_id, gate, params,
       metadata, telemetry
     from invocations join invocation_inputs using (id) where id = $1`,
    [id],
  )
  return rows[0]
}

test('a tick becomes one call of its tool, at its time and not before', async () => {
  await begin('plain', {
    schedule: '*/30',
    manifest: { parameters: { days: { type: 'integer', default: 3 }, city: { type: 'string' } } },
  })
  assert.deepEqual(await fireDue(deps, ['plain'], at('10:29:59.999')), [])
  const ticks = await fireDue(deps, ['plain'], at('10:30:00'))
  assert.deepEqual(inWords(ticks), ['10:30 fired'])
  assert.deepEqual(await storedCall(invocationOf(ticks)), {
    delay: 0,
    topic: 'cron:plain',
    key_id: null,
    gate: 'open',
    params: { days: 3 },
    metadata: { tick_at: '2031-05-05T10:30:00.000Z', origin: 'schedule' },
    telemetry: { time: '2031-05-05T10:30:00.000Z' },
  })
  assert.deepEqual(ground.effects().jobs, [`${invocationOf(ticks)}-1`])
  const { last_tick_at, next_tick_at, fired_count } = await ground.scheduleOf('plain')
  assert.deepEqual([last_tick_at, next_tick_at, fired_count], [at('10:30:00'), at('11:00:00'), 1])
})

test('early, late, double and missing alarms come to the same ticks', async () => {
  await begin('alarmed')
  const all = []
  for (const time of ['10:00:59', '10:01:00', '10:01:00', '10:01:00.5', '10:03:20', '10:02:00', '10:04:00'])
    all.push(...(await fireDue(deps, ['alarmed'], at(time))))
  assert.deepEqual(inWords(all), ['10:01 fired', '10:02 fired', '10:03 fired', '10:04 fired'])
  assert.deepEqual(inWords(await ground.ticks('alarmed')), inWords(all))
  const { rows } = await pool.query("select from invocations where tool = 'alarmed'")
  assert.equal(rows.length, 4)
})

test('alarms of any number of processes at once fire each tick once', async () => {
  await begin('crowded')
  const fires = Array.from({ length: 12 }, (_, index) =>
    fireDue(index % 2 === 0 ? deps : other.deps, ['crowded'], at('10:03:00')),
  )
  const ticks = (await Promise.all(fires)).flat()
  assert.deepEqual(inWords(ticks), ['10:01 fired', '10:02 fired', '10:03 fired'])
})

test('two schedulers that start at the same instant share the work and repeat none of it', async () => {
  const names = Array.from({ length: 150 }, (_, index) => `start_${index}`)
  for (const name of names) await ground.makeCron(name, { overlap: 'allow' })
  const now = at('11:00:00')
  await Promise.all([reconcile(deps, now), reconcile(other.deps, now)])
  const both = await Promise.all([reconcile(deps, at('11:02:30')), reconcile(other.deps, at('11:02:30'))])
  // What one had in hand the other left: whoever comes next finds nothing.
  assert.deepEqual(await reconcile(deps, at('11:02:30')), [])
  const ours = both.flat().filter(({ tool }) => tool.startsWith('start_'))
  const moments = ours.map(({ tool, tickAt }) => `${tool} ${tickAt.toISOString()}`)
  assert.equal(moments.length, 300)
  assert.equal(new Set(moments).size, 300)
  const { rows } = await pool.query("select from invocations where tool like 'start\\_%'")
  assert.equal(rows.length, 300)
})

test('a crash before the commit leaves nothing, and the next look does all of it', async () => {
  await begin('crashing')
  const crash = transaction(pool, async (sql) => {
    const settled = await settle(sql, deps.depth, await lockSchedules(sql, ['crashing']), at('10:02:00'))
    assert.deepEqual(inWords(settled.ticks), ['10:01 fired', '10:02 fired'])
    throw new Error('the process is gone')
  })
  await assert.rejects(crash, /the process is gone/)
  assert.deepEqual(await ground.ticks('crashing'), [])
  const { rows } = await pool.query("select from invocations where tool = 'crashing'")
  assert.deepEqual([rows.length, (await ground.scheduleOf('crashing')).fired_count], [0, 0])
  const ticks = await fireDue(deps, ['crashing'], at('10:02:00'))
  assert.deepEqual(inWords(ticks), ['10:01 fired', '10:02 fired'])
})

test('a connection that breaks in the middle of it leaves nothing either', async () => {
  await begin('broken')
  const cut = transaction(other.deps.pool, async (sql) => {
    await settle(sql, other.deps.depth, await lockSchedules(sql, ['broken']), at('10:01:00'))
    const { rows } = await sql.query<{ pid: number }>('select pg_backend_pid() as pid')
    await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
  })
  await assert.rejects(cut, { code: '57P01' })
  assert.deepEqual(inWords(await fireDue(deps, ['broken'], at('10:01:00'))), ['10:01 fired'])
  assert.equal((await ground.ticks('broken')).length, 1)
})

test('a tick that has a row never runs again, whatever the schedule says', async () => {
  await begin('turned_back')
  await fireDue(deps, ['turned_back'], at('10:02:00'))
  await pool.query('update schedules set last_tick_at = $2 where tool = $1', ['turned_back', at('10:00:00')])
  assert.deepEqual(inWords(await fireDue(deps, ['turned_back'], at('10:03:00'))), ['10:03 fired'])
  assert.equal((await ground.ticks('turned_back')).length, 3)
})

test('jitter puts the start off, the same for each tick, and never the tick', async () => {
  await begin('jittery', { jitter_seconds: 600 })
  const ticks = await fireDue(deps, ['jittery'], at('10:01:00'))
  const stored = await storedCall(invocationOf(ticks))
  assert.ok(stored !== undefined && stored.delay > 0 && stored.delay < 600, JSON.stringify(stored))
  assert.equal(stored.gate, 'delayed')
  assert.deepEqual(ground.effects().jobs.at(-1), `${invocationOf(ticks)}-1-due`)
  // Caught up long after, it starts at once.
  const late = await fireDue(deps, ['jittery'], at('10:30:00'))
  assert.equal((await storedCall(invocationOf(late)))?.delay, 0)
})

test('what a tool is refused for is a miss that says so, and no later tick makes up for it', async () => {
  await begin('off')
  await pool.query("update tools set enabled = false where name = 'off'")
  assert.deepEqual(inWords(await fireDue(deps, ['off'], at('10:02:00'))), [
    '10:01 missed tool_disabled',
    '10:02 missed tool_disabled',
  ])
  await pool.query("update tools set enabled = true where name = 'off'")
  assert.deepEqual(inWords(await fireDue(deps, ['off'], at('10:03:00'))), ['10:03 fired'])
  assert.equal((await ground.scheduleOf('off')).missed_count, 2)

  await begin('needy', { manifest: { parameters: { city: { type: 'string', required: true } } } })
  assert.deepEqual(inWords(await fireDue(deps, ['needy'], at('10:01:00'))), ['10:01 missed invalid_params'])
  await begin('unset', { manifest: { config_schema: { token: { required: true } } } })
  assert.deepEqual(inWords(await fireDue(deps, ['unset'], at('10:01:00'))), ['10:01 missed not_configured'])
  await begin('poor', { manifest: { constraints: { cost_budget: 1 } } })
  await pool.query(
    "insert into tool_memory (tool, budget_day, budget_spent) values ('poor', (now() at time zone 'utc')::date, 2)",
  )
  assert.deepEqual(inWords(await fireDue(deps, ['poor'], at('10:01:00'))), ['10:01 missed budget_exhausted'])
})

test('of the ticks that are due at once as many run as the budget has left', async () => {
  await begin('measured', { manifest: { constraints: { cost_budget: 2 } } })
  const [first] = await fireDue(deps, ['measured'], at('10:01:00'))
  assert.deepEqual(inWords(await fireDue(deps, ['measured'], at('10:04:00'))), [
    '10:02 fired',
    '10:03 missed budget_exhausted',
    '10:04 missed budget_exhausted',
  ])
  await ground.cancel(first?.invocationId ?? '')
  assert.deepEqual(inWords(await fireDue(deps, ['measured'], at('10:05:00'))), ['10:05 fired'])
})

test('a queue that is full only puts a tick off, for as long as it may be late', async () => {
  await begin('full', { catch_up_seconds: 120 })
  await pool.query(
    `insert into invocations (id, tool, topic, status, gate, priority, due_at, not_before, expires_at, submitted_hash)
     select 'inv_' || lpad(n::text, 26, '0'), 'full', 't', 'queued', 'held', 5, now(), now(), now() + interval '1 hour', 'h'
     from generate_series(1, 10000) as n`,
  )
  // A count of what waits is a second old at most; this one is new.
  assert.deepEqual(await fireDue(createScheduleDeps(deps), ['full'], at('10:01:00')), [])
  assert.deepEqual((await ground.scheduleOf('full')).next_tick_at, at('10:01:00'))
  await pool.query("delete from invocations where tool = 'full'")
  assert.deepEqual(inWords(await fireDue(createScheduleDeps(deps), ['full'], at('10:04:00'))), [
    '10:01 missed late',
    '10:02 fired',
    '10:03 fired',
    '10:04 fired',
  ])
})

test('a version that begins to serve just then is the one that runs, with what it is to be given', async () => {
  const days = (value: number) => ({ parameters: { days: { type: 'integer', default: value } } })
  await begin('renewed', { manifest: days(1) })
  const serving = await pool.connect()
  await serving.query('begin')
  await serving.query(
    `insert into tool_versions (tool, hash, version, manifest)
     select tool, 'renewed-2', 'v', jsonb_set(manifest::jsonb, '{parameters,days,default}', '2')
     from tool_versions where tool = 'renewed'`,
  )
  await serving.query("update tools set current_hash = 'renewed-2' where name = 'renewed'")
  const firing = fireDue(deps, ['renewed'], at('10:01:00'))
  await waitUntilBlocked(pool)
  await serving.query('commit')
  serving.release()
  const ticks = await firing
  assert.deepEqual(inWords(ticks), ['10:01 fired'])
  assert.deepEqual((await storedCall(invocationOf(ticks)))?.params, { days: 2 })
})

test('however many are behind, a transaction settles a thousand ticks at most, and some of each', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `behind_${String(index).padStart(2, '0')}`)
  for (const name of names) await ground.makeCron(name, { overlap: 'allow', catch_up_seconds: 0 })
  await syncSchedules(pool, at('10:00:00'))
  // Sixty ticks of each, of which one is not too late.
  const now = at('11:00:00')
  const once = await transaction(pool, async (sql) =>
    settle(sql, deps.depth, await lockSchedules(sql, names), now),
  )
  assert.deepEqual([once.ticks.length, once.again], [1_000, names])
  const byTool = Map.groupBy(once.ticks, ({ tool }) => tool)
  for (const name of names) assert.equal(byTool.get(name)?.length, 25, name)
  const others = await fireDue(deps, names, now)
  assert.deepEqual([others.length, others.filter(({ fate }) => fate === 'fired').length], [1_400, 40])
})

test('a transaction starts two hundred runs at most, whether they waited or are due', async () => {
  await begin('starting', { catch_up_seconds: 86_400 })
  const waiting =
    "insert into ticks (tool, tick_at, origin, fate) select 'starting', $1::timestamptz + n * interval '1 s', $2, 'buffered' from generate_series(1, 250) as n"
  await pool.query(waiting, [at('08:00:00'), 'manual'])
  await pool.query(waiting, [at('07:00:00'), 'backfill'])
  const now = at('14:10:00')
  const turns = []
  for (let isMore = true; isMore;) {
    const { ticks, again } = await transaction(pool, async (sql) =>
      settle(sql, deps.depth, await lockSchedules(sql, ['starting']), now),
    )
    const origins = Object.entries(Object.groupBy(ticks, ({ origin }) => origin))
    turns.push(Object.fromEntries(origins.map(([origin, of]) => [origin, of.length])))
    isMore = again.length > 0
  }
  assert.deepEqual(turns, [
    { manual: 200 },
    { manual: 50, schedule: 150 },
    { schedule: 100, backfill: 100 },
    { backfill: 150 },
  ])
  assert.ok((await ground.ticks('starting')).every(({ fate }) => fate === 'fired'))
})
