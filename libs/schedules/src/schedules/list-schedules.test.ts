import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { newPrefixedId } from '@toolyard/contract/ids'
import { failure } from '@toolyard/invocations/fixtures/outcomes'
import { at, boundKey, invocationOf, makeGround, operator } from '../../fixtures/ground.ts'
import { fireDue } from '../ticks/fire-due.ts'
import { pruneSchedules } from '../prune-schedules.ts'
import { getSchedule, listSchedules } from './list-schedules.ts'
import { syncSchedules } from './sync-schedules.ts'

const ground = await makeGround()
const { deps, pool } = ground

test('a schedule is shown with its next five times, its last result and what did not run', async () => {
  await ground.makeCron('report', { schedule: '0 9 * * 1-5', timezone: 'Europe/Malta', catch_up_seconds: 60 })
  await syncSchedules(pool, at('06:00:00'))
  const id = invocationOf(await fireDue(deps, ['report'], at('07:00:00')))
  await ground.end(id, failure)
  await fireDue(deps, ['report'], new Date('2031-05-07T12:00:00Z'))
  const now = new Date('2031-05-07T12:00:00Z')
  const { ticks, last_result, ...shown } = await getSchedule(pool, operator.actor, { tool: 'report', now })
  assert.deepEqual(shown, {
    tool: 'report',
    schedule: '0 9 * * 1-5',
    timezone: 'Europe/Malta',
    overlap: 'skip',
    catch_up_seconds: 60,
    jitter_seconds: 0,
    pause_after: null,
    overrides: [],
    paused: null,
    next: ['08', '09', '12', '13', '14'].map((day) => ({
      at: `2031-05-${day}T07:00:00.000Z`,
      local: `2031-05-${day}T09:00:00+02:00`,
    })),
    last_tick_at: '2031-05-07T07:00:00.000Z',
    failures_in_a_row: 1,
    fired: 1,
    skipped: 0,
    missed: 2,
    prompts_superseded: 0,
    faults: [],
  })
  const { ended_at, ...last } = last_result ?? { ended_at: '' }
  assert.ok(Math.abs(Date.parse(ended_at) - Date.now()) < 60_000)
  assert.deepEqual(last, {
    invocation_id: id,
    status: 'failed',
    failure: { kind: 'tool_error', message: 'no such city' },
  })
  const missed = { origin: 'schedule', fate: 'missed', reason: 'late', invocation_id: null, status: null }
  assert.deepEqual(ticks, [
    { tick_at: '2031-05-07T07:00:00.000Z', ...missed },
    { tick_at: '2031-05-06T07:00:00.000Z', ...missed },
    {
      tick_at: '2031-05-05T07:00:00.000Z',
      origin: 'schedule',
      fate: 'fired',
      reason: null,
      invocation_id: id,
      status: 'failed',
    },
  ])
})

test('a schedule that cannot run says why', async () => {
  await ground.makeCron('broken_text', { schedule: '0 0 30 2 *' })
  await ground.makeCron('broken_call', {
    manifest: { parameters: { city: { type: 'string', required: true } } },
  })
  await syncSchedules(pool, at('10:00:00'))
  const faultsOf = async (tool: string) =>
    (await getSchedule(pool, operator.actor, { tool, now: at('10:00:00') })).faults.join(' ')
  assert.match(await faultsOf('broken_text'), /^schedule /)
  assert.match(await faultsOf('broken_call'), /no params: \/params\/city is required/)
  // It is due at no time, and keeps nobody busy.
  assert.equal((await ground.scheduleOf('broken_text')).next_tick_at, null)
})

test('lists come in pages by name, and hold what a key may see', async () => {
  const now = at('10:00:00')
  const names = Array.from({ length: 7 }, (_, index) => `page_${index}`)
  for (const name of names) await ground.makeCron(name)
  await syncSchedules(pool, now)
  const key = boundKey({ tools: [...names.slice(0, 5), 'weather'] })
  const found = []
  let cursor: string | undefined
  do {
    const page = await listSchedules(pool, key, { cursor, limit: 2, now })
    found.push(...page.schedules.map(({ tool }) => tool))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  assert.deepEqual(found, names.slice(0, 5))
  assert.deepEqual((await listSchedules(pool, boundKey({ topics: ['page_1'] }), { now })).schedules, [])
  const isGone = (error: unknown) => error instanceof AppError && error.code === 'not_found'
  await assert.rejects(getSchedule(pool, key, { tool: 'page_6', now }), isGone)
  await assert.rejects(getSchedule(pool, operator.actor, { tool: 'weather', now }), isGone)
  await assert.rejects(listSchedules(pool, key, { limit: 0, cursor: 'A', now }), AppError)
  await pool.query("update tools set removed_at = now() where name = 'page_0'")
  await fireDue(deps, ['page_0'], now)
  await assert.rejects(getSchedule(pool, operator.actor, { tool: 'page_0', now }), isGone)
})

test('what is old is dropped, and what runs or waits is not', async () => {
  await pool.query('truncate ticks, prompts, tool_states')
  await pool.query(
    `insert into ticks (tool, tick_at, origin, fate, invocation_id, written_at, ended_at)
     select 'page_1', timestamptz '2031-01-01' + n * interval '1 minute', 'schedule', 'fired', 'inv_' || n,
       now() - interval '31 days' + (n - 2500.5) * interval '1 minute',
       case when n % 1000 <> 0 then now() end
     from generate_series(1, 3000) as n`,
  )
  await pool.query(
    `insert into tool_states (tool, invocation_id, state, stored_at)
     values ('old', 'inv_1', '1', now() - interval '8 days'), ('new', 'inv_2', '2', now() - interval '6 days')`,
  )
  const monthAgo = Date.now() - 30 * 86_400_000
  const ids = [monthAgo - 60_000, monthAgo + 60_000].map((ms) => newPrefixedId('prm', ms))
  await pool.query(
    `insert into prompts (id, tool, invocation_id, tick_at, priority, text)
     select id, 'page_1', id, now(), 1, 't' from unnest($1::text[]) as made (id)`,
    [ids],
  )
  assert.deepEqual(await pruneSchedules(pool, { tickDays: 30, promptDays: 30, stateDays: 7 }), {
    ticks: 2_498,
    prompts: 1,
    states: 1,
  })
  assert.deepEqual(await pruneSchedules(pool, { tickDays: 30, promptDays: 30, stateDays: 7 }), {
    ticks: 0,
    prompts: 0,
    states: 0,
  })
  const left = await pool.query<{ id: string }>('select id from prompts')
  assert.deepEqual(
    left.rows.map(({ id }) => id),
    ids.slice(1),
  )
})
