import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, inWords, makeGround } from '../../fixtures/ground.ts'
import type { CronTool } from '../../fixtures/ground.ts'
import { createScheduleDeps, fireDue } from './fire-due.ts'
import { reconcile } from './reconcile.ts'

const ground = await makeGround()
const { deps, pool } = ground

async function only(tools: Record<string, CronTool>) {
  await pool.query('truncate schedules, ticks, tools, invocations, invocation_inputs cascade')
  for (const [name, cron] of Object.entries(tools)) await ground.makeCron(name, cron)
}

const minutes = (from: number, to: number, fate: string) =>
  Array.from({ length: to - from + 1 }, (_, index) => `10:${String(from + index).padStart(2, '0')} ${fate}`)

/** The scheduler goes at 10:05 and is back ten minutes later. */
async function outage(duringIt: () => Promise<unknown> = async () => {}) {
  await reconcile(deps, at('10:00:00'))
  for (let minute = 1; minute <= 5; minute++) await reconcile(deps, at(`10:0${minute}:00`))
  await duringIt()
  await reconcile(deps, at('10:15:00'))
  await reconcile(deps, at('10:16:00'))
}

const policies: [string, CronTool, string[]][] = [
  ['all', { catch_up_seconds: 3_600 }, minutes(1, 16, 'fired')],
  [
    'some',
    { catch_up_seconds: 300 },
    [...minutes(1, 5, 'fired'), ...minutes(6, 9, 'missed late'), ...minutes(10, 16, 'fired')],
  ],
  [
    'none',
    { catch_up_seconds: 0 },
    [...minutes(1, 5, 'fired'), ...minutes(6, 14, 'missed late'), ...minutes(15, 16, 'fired')],
  ],
]

test('after ten minutes without a scheduler exactly those ticks run that each policy promises', async () => {
  await only(Object.fromEntries(policies.map(([name, cron]) => [name, { ...cron, overlap: 'allow' }])))
  await outage()
  for (const [name, , expected] of policies) {
    assert.deepEqual(inWords(await ground.ticks(name)), expected, name)
    const { fired_count, missed_count } = await ground.scheduleOf(name)
    const missed = expected.filter((one) => one.includes('missed')).length
    assert.deepEqual([fired_count, missed_count], [16 - missed, missed])
    const { rows } = await pool.query('select from invocations where tool = $1', [name])
    assert.equal(rows.length, 16 - missed, 'one call for each tick that fired')
  }
})

test('the same where all connections to the database broke meanwhile', async () => {
  await only({ cut: { catch_up_seconds: 300, overlap: 'allow' } })
  await outage(() =>
    pool
      .query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      )
      .then(() => pool.query('select pg_terminate_backend(pg_backend_pid())').catch(() => {})),
  )
  assert.deepEqual(inWords(await ground.ticks('cut')), policies[1]?.[2])
})

test('of ticks that are caught up with skip the first runs; with buffer_one another waits; with cancel_other the last runs', async () => {
  const names = ['skip', 'buffer_one', 'cancel_other'] as const
  await only(Object.fromEntries(names.map((overlap) => [overlap, { overlap }])))
  await reconcile(deps, at('10:00:00'))
  await reconcile(deps, at('10:03:00'))
  const became = await Promise.all(names.map(async (name) => inWords(await ground.ticks(name))))
  assert.deepEqual(became, [
    ['10:01 fired', '10:02 skipped overlap', '10:03 skipped overlap'],
    ['10:01 fired', '10:02 buffered', '10:03 skipped overlap'],
    ['10:01 skipped overtaken', '10:02 skipped overtaken', '10:03 fired'],
  ])
})

test('a schedule of seconds that nobody looked at for an hour is caught up with in pieces, each tick once', async () => {
  await only({ seconds: { schedule: '* * * * * *', overlap: 'skip', catch_up_seconds: 600 } })
  await reconcile(deps, at('10:00:00'))
  const ticks = await reconcile(deps, at('11:00:00'))
  assert.equal(ticks.length, 3_600)
  const counted = Map.groupBy(ticks, ({ fate, reason }) => `${fate} ${reason}`)
  assert.deepEqual(Object.fromEntries([...counted].map(([fate, of]) => [fate, of.length])), {
    'missed late': 2_999,
    'fired null': 1,
    'skipped overlap': 600,
  })
  const moments = new Set(ticks.map(({ tickAt }) => tickAt.getTime()))
  assert.equal(moments.size, 3_600)
  assert.deepEqual((await ground.scheduleOf('seconds')).last_tick_at, at('11:00:00'))
})

test('the hour that is left out and the hour that comes twice are counted as the rules say', async () => {
  await only({
    spring: { schedule: '30 2 * * *', timezone: 'Europe/Berlin', overlap: 'allow' },
    autumn: { schedule: '30 2 * * *', timezone: 'Europe/Berlin', overlap: 'allow' },
  })
  await reconcile(deps, new Date('2031-03-28T12:00:00Z'))
  await reconcile(deps, new Date('2031-03-28T12:00:00Z'))
  for (let hour = 0; hour < 72; hour++)
    await fireDue(deps, ['spring'], new Date(Date.UTC(2031, 2, 28, 13 + hour)))
  const spring = (await ground.ticks('spring')).map(({ tickAt }) => tickAt.toISOString())
  assert.deepEqual(spring, [
    '2031-03-29T01:30:00.000Z',
    '2031-03-30T01:00:00.000Z',
    '2031-03-31T00:30:00.000Z',
  ])
  await pool.query("update schedules set last_tick_at = '2031-10-25T12:00:00Z' where tool = 'autumn'")
  for (let hour = 0; hour < 48; hour++)
    await fireDue(deps, ['autumn'], new Date(Date.UTC(2031, 9, 25, 13 + hour)))
  const autumn = (await ground.ticks('autumn')).map(({ tickAt }) => tickAt.toISOString())
  assert.deepEqual(autumn, ['2031-10-26T00:30:00.000Z', '2031-10-27T01:30:00.000Z'])
})

test('two hundred schedules over an hour, looked at by two processes: each tick once', async () => {
  const every = [1, 5, 15, 20, 30, 60]
  await only(
    Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => {
        const minutesBetween = every[index % every.length]
        const schedule = minutesBetween === 60 ? `${index % 60} * * * *` : `*/${minutesBetween}`
        return [`many_${index}`, { schedule, overlap: 'allow' } as const]
      }),
    ),
  )
  const second = createScheduleDeps(deps)
  await reconcile(deps, at('10:00:00'))
  for (let minute = 1; minute <= 60; minute++) {
    const now = new Date(at('10:00:00').getTime() + minute * 60_000)
    await Promise.all([reconcile(deps, now), reconcile(second, now)])
  }
  // What one had in hand when the other looked is done by now.
  assert.deepEqual(await reconcile(deps, at('11:00:00')), [])
  const { rows } = await pool.query<{ tool: string; count: number; calls: number }>(
    `select tool, count(*)::integer as count, count(distinct invocation_id)::integer as calls
     from ticks where fate = 'fired' group by tool`,
  )
  assert.equal(rows.length, 200)
  for (const { tool, count, calls } of rows) {
    const minutesBetween = every[Number(tool.slice(5)) % every.length] ?? 0
    assert.deepEqual([tool, count, calls], [tool, 60 / minutesBetween, 60 / minutesBetween])
  }
})

test('a tool that is new, changed, gone or back has its schedule with the next look', async () => {
  await only({ living: { schedule: '*/10', overlap: 'allow' } })
  await reconcile(deps, at('10:00:00'))
  // What was due before the change comes as it was meant then, and runs as the new version.
  await ground.makeCron('living', { version: 2, schedule: '*/15', overlap: 'allow' })
  assert.deepEqual(inWords(await reconcile(deps, at('10:12:00'))), ['10:10 fired'])
  const { rows } = await pool.query<{ submitted_hash: string }>('select submitted_hash from invocations')
  assert.deepEqual(rows, [{ submitted_hash: 'living-2' }])
  assert.deepEqual(inWords(await reconcile(deps, at('10:20:00'))), ['10:15 fired'])

  await pool.query('update tools set removed_at = now()')
  assert.deepEqual(await reconcile(deps, at('10:50:00')), [])
  assert.equal((await ground.scheduleOf('living')).next_tick_at, null)
  await pool.query('update tools set removed_at = null')
  // While it was away nothing was due.
  assert.deepEqual(await reconcile(deps, at('11:10:00')), [])
  assert.deepEqual(inWords(await reconcile(deps, at('11:15:00'))), ['11:15 fired'])

  await ground.makeCron('living', { version: 3, manifest: { trigger: { type: 'on_demand' } } })
  assert.deepEqual(await reconcile(deps, at('12:00:00')), [])
  assert.equal((await ground.scheduleOf('living')).next_tick_at, null)
})

test('a run that was ended by whoever knew of no ticks does not stand in the way for ever', async () => {
  await only({ forgotten: { overlap: 'skip' } })
  await reconcile(deps, at('10:00:00'))
  await reconcile(deps, at('10:01:00'))
  await pool.query(
    "update invocations set status = 'cancelled', final_status = 'cancelled', gate = 'closed', finished_at = now()",
  )
  assert.deepEqual(inWords(await reconcile(deps, at('10:02:00'))), ['10:02 fired'])
  const [first] = await ground.ticks('forgotten')
  assert.equal(first?.status, 'cancelled')
})

test('ticks of before a change that are more than one transaction takes all come as they were meant', async () => {
  await only({ dense: { schedule: '* * * * * *', overlap: 'skip' } })
  await reconcile(deps, at('10:00:00'))
  await ground.makeCron('dense', { version: 2, schedule: '*/30', overlap: 'skip' })
  const ticks = await reconcile(deps, at('10:25:00'))
  assert.equal(ticks.length, 1_500)
  assert.deepEqual((await ground.scheduleOf('dense')).next_tick_at, at('10:30:00'))
})

test('runs of which nothing is known any more are ended in one turn, however many', async () => {
  await only({ lost: { overlap: 'allow' } })
  await pool.query(
    `insert into ticks (tool, tick_at, origin, fate, invocation_id)
     select 'lost', $1::timestamptz - n * interval '1 minute', 'schedule', 'fired', 'inv_gone_' || n
     from generate_series(1, 1234) as n`,
    [at('10:00:00')],
  )
  await reconcile(deps, at('10:00:00'))
  const { rows } = await pool.query<{ status: string | null; count: number }>(
    'select status, count(*)::integer as count from ticks group by status',
  )
  assert.deepEqual(rows, [{ status: 'lost', count: 1_234 }])
})
