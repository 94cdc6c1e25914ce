import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChangeScheduleBody } from '@toolyard/contract/schedules'
import { scheduleShape, scheduleWithTicksShape } from '@toolyard/contract/schedules'
import { scopes } from '@toolyard/contract/scopes'
import { failure } from '@toolyard/invocations/fixtures/outcomes'
import { makeGround } from '@toolyard/schedules/fixtures/ground'
import { reconcile } from '@toolyard/schedules/reconcile'
import { z } from 'zod'
import { auditPage, bodyOf, problemOf, refusalOf } from '../../fixtures/answers.ts'
import { assertAsksFor, assertRefusesBodies, callerOf } from '../../fixtures/caller.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { makeKey } from '../../fixtures/test-keys.ts'

const ground = await makeGround()
const { pool, database } = ground
const api = await testApi({ databaseUrl: database.url })
const admin = await makeKey(pool, { scopes: [...scopes] })

const schedule = scheduleShape.strict()
const withTicks = scheduleWithTicksShape.strict()
const page = z.strictObject({ schedules: z.array(schedule), next_cursor: z.string().nullable() })

const call = callerOf(api.url, admin.token)

/** As a scheduler finds them. */
async function makeCrons(...tools: Parameters<typeof ground.makeCron>[]) {
  for (const tool of tools) await ground.makeCron(...tool)
  await reconcile(ground.deps, new Date())
}

const change = async (tool: string, body: ChangeScheduleBody) =>
  bodyOf(await call('PATCH', `/schedules/${tool}`, body), schedule)

test('a schedule is shown with its next five times, in the zone too', async () => {
  await makeCrons(['overdue', { schedule: '*/30', prompt: 'Check for any overdue reminders:' }])
  const shown = await bodyOf(await call('GET', '/schedules/overdue'), withTicks)
  assert.deepEqual(
    [shown.schedule, shown.timezone, shown.overlap, shown.catch_up_seconds, shown.overrides, shown.ticks],
    ['*/30', 'UTC', 'skip', 3_600, [], []],
  )
  assert.equal(shown.next.length, 5)
  for (const [index, { at, local }] of shown.next.entries()) {
    assert.equal(Date.parse(local), Date.parse(at))
    assert.match(at, /T\d\d:[03]0:00\.000Z$/)
    if (index > 0) assert.equal(Date.parse(at) - Date.parse(shown.next[index - 1]?.at ?? ''), 1_800_000)
  }
  const [first = { at: '' }] = shown.next
  assert.ok(Date.parse(first.at) > Date.now() && Date.parse(first.at) <= Date.now() + 1_800_000)
})

test('a change is in force at once, outlasts versions, and null goes back to the manifest', async () => {
  await makeCrons(['report', { schedule: '0 9 * * *', timezone: 'UTC', pause_after: 3 }])
  const changed = await change('report', {
    schedule: '0 8 * * MON',
    timezone: 'Europe/Berlin',
    jitter_seconds: 60,
    pause_after: 0,
  })
  assert.deepEqual(
    [changed.schedule, changed.timezone, changed.jitter_seconds, changed.pause_after, changed.overlap],
    ['0 8 * * MON', 'Europe/Berlin', 60, null, 'skip'],
  )
  assert.deepEqual(changed.overrides.toSorted(), ['jitter_seconds', 'pause_after', 'schedule', 'timezone'])
  assert.equal(changed.next.length, 5)
  for (const { at, local } of changed.next) {
    assert.match(local, /T08:00:00\+0[12]:00$/)
    assert.equal(new Date(at).getUTCDay(), 1)
  }
  await makeCrons(['report', { version: 2, schedule: '0 10 * * *', pause_after: 5 }])
  const back = await change('report', { schedule: null, timezone: null, pause_after: null })
  assert.deepEqual(
    [back.schedule, back.timezone, back.pause_after, back.overrides],
    ['0 10 * * *', 'UTC', 5, ['jitter_seconds']],
  )
  const { entries } = await bodyOf(await call('GET', '/audit?limit=1'), auditPage)
  assert.deepEqual([entries[0]?.action, entries[0]?.target], ['schedule.change', 'schedule:report'])
})

test('what cannot be meant is refused with the field and what to write instead', async () => {
  await makeCrons(['faulty', { schedule: '*/10' }])
  const before = await bodyOf(await call('GET', '/schedules/faulty'), withTicks)
  for (const [body, pointer, mend] of [
    [{ schedule: '30' }, '/schedule', /\*\/30 for every 30 minutes/],
    [{ schedule: '0 0 30 2 *' }, '/schedule', /a day that comes/],
    [{ schedule: '' }, '/schedule', /./],
    [{ schedule: `${'1,'.repeat(120)}1 * * * *` }, '/schedule', /200/],
    [{ schedule: '* * * *\u0000 *' }, '/schedule', /control characters/],
    [{ timezone: 'Berlin' }, '/timezone', /did you mean Europe\/Berlin/],
    [{ overlap: 'never' }, '/overlap', /skip/],
    [{ catch_up_seconds: -1 }, '/catch_up_seconds', /0/],
    [{ jitter_seconds: 3_601 }, '/jitter_seconds', /3600/],
    [{ pause_after: 1_001 }, '/pause_after', /1000/],
    [{ prompt: 'x' }, '/prompt', /./],
    [{}, '', /must change something/],
  ] as const) {
    const { status, code, faults = [] } = await problemOf(await call('PATCH', '/schedules/faulty', body))
    assert.deepEqual([status, code, faults[0]?.pointer], [422, 'invalid_request', pointer])
    assert.match(faults[0]?.detail ?? '', mend)
  }
  assert.deepEqual(await bodyOf(await call('GET', '/schedules/faulty'), withTicks), before)
})

test('a pause has a reason and no next times, and ends with a resume, with or without catching up', async () => {
  await makeCrons(['paused', { schedule: '*/10' }])
  const pause = (reason: unknown) => call('POST', '/schedules/paused/pause', { reason })
  for (const reason of [undefined, '', 'two\nlines', 'x'.repeat(501), 5])
    assert.deepEqual((await problemOf(await pause(reason))).faults?.[0]?.pointer, '/reason')
  const { paused, next } = await bodyOf(await pause(' the service is down '), schedule)
  assert.deepEqual([paused?.reason, next], ['the service is down', []])
  for (const body of [undefined, {}, { catch_up: true }]) {
    await pause('again')
    const resumed = await bodyOf(await call('POST', '/schedules/paused/resume', body), schedule)
    assert.deepEqual([resumed.paused, resumed.next.length], [null, 5])
  }
  assert.equal(
    await refusalOf(await call('POST', '/schedules/paused/resume', { catch_up: 'no' })),
    '422 invalid_request',
  )
})

test('what was due during a pause runs with catch_up, and is left out without', async () => {
  // Of these minutes none comes while the test runs.
  const minutes = [4, 3, 2, 1].map((ago) => new Date(Date.now() - ago * 60_000).getUTCMinutes())
  const past = { schedule: `${minutes.join(',')} * * * *` }
  await makeCrons(['left_out', past], ['caught_up', past])
  const fatesOf = async (tool: string, body: object) => {
    await call('POST', `/schedules/${tool}/pause`, { reason: 'x' })
    await pool.query(
      `update schedules set last_tick_at = clock_timestamp() - interval '10 minutes',
         paused_at = clock_timestamp() - interval '10 minutes' where tool = $1`,
      [tool],
    )
    await bodyOf(await call('POST', `/schedules/${tool}/resume`, body), schedule)
    return (await ground.ticks(tool)).map(({ fate }) => fate)
  }
  assert.deepEqual(await fatesOf('left_out', {}), [])
  const caughtUp = await fatesOf('caught_up', { catch_up: true })
  assert.deepEqual(caughtUp, ['fired', 'skipped', 'skipped', 'skipped'])
})

test('its last times and results are shown: what ran, and what did not', async () => {
  const hourAgo = new Date(Date.now() - 3_600_000)
  await ground.makeCron('history', { schedule: '*/1', catch_up_seconds: 600 })
  await reconcile(ground.deps, hourAgo)
  const fired = (await reconcile(ground.deps, new Date())).find(({ fate }) => fate === 'fired')
  await ground.end(fired?.invocationId ?? '', failure)
  const shown = await bodyOf(await call('GET', '/schedules/history'), withTicks)
  assert.equal(shown.ticks.length, 20)
  assert.deepEqual(
    shown.ticks.map(({ tick_at: at }) => at),
    shown.ticks.map(({ tick_at: at }) => at).toSorted((a, b) => (a < b ? 1 : -1)),
  )
  const run = shown.ticks.find(({ fate }) => fate === 'fired')
  assert.deepEqual(
    [run?.invocation_id, run?.status, run?.origin],
    [fired?.invocationId, 'failed', 'schedule'],
  )
  assert.deepEqual(
    [shown.last_result?.invocation_id, shown.last_result?.status, shown.last_result?.failure?.kind],
    [fired?.invocationId, 'failed', 'tool_error'],
  )
  assert.deepEqual([shown.fired, shown.fired + shown.skipped + shown.missed >= 60], [1, true])
  assert.ok(shown.missed >= 49 && shown.skipped >= 9, JSON.stringify(shown))
})

test('lists come in pages by name', async () => {
  const names = ['page_a', 'page_b', 'page_c']
  await makeCrons(...names.map((name): [string] => [name]))
  const { token } = await makeKey(pool, { scopes: ['schedules:manage'], tools: names })
  const first = await bodyOf(await call('GET', '/schedules?limit=2', undefined, token), page)
  const rest = await bodyOf(
    await call('GET', `/schedules?limit=2&cursor=${first.next_cursor}`, undefined, token),
    page,
  )
  assert.deepEqual(
    [first, rest].map(({ schedules }) => schedules.map(({ tool }) => tool)),
    [['page_a', 'page_b'], ['page_c']],
  )
  assert.equal(rest.next_cursor, null)
  for (const query of ['limit=0', 'limit=201', 'cursor=A', 'cursor=%00', 'tool=a'])
    assert.equal(await refusalOf(await call('GET', `/schedules?${query}`)), '422 invalid_request', query)
})

const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
const routes = [
  ['GET', '', undefined],
  ['PATCH', '', { overlap: 'allow' }],
  ['POST', '/pause', { reason: 'x' }],
  ['POST', '/resume', {}],
  ['POST', '/trigger', {}],
  ['POST', '/backfill', { from: hourAgo, until: hourAgo }],
] as const

test('a key sees and touches the schedules of its tools alone, and none when it is bound to topics', async () => {
  await makeCrons(['seen'], ['unseen'])
  const manage = { scopes: ['schedules:manage' as const] }
  const ofTool = await makeKey(pool, { ...manage, tools: ['seen'] })
  const ofTopic = await makeKey(pool, { ...manage, topics: ['seen'] })
  for (const [token, tool] of [
    [ofTool.token, 'unseen'],
    [ofTopic.token, 'seen'],
    [admin.token, 'nothing'],
    [admin.token, 'Not%20a%20tool'],
    [admin.token, '%00'],
    [admin.token, 'x'.repeat(300)],
  ] as const)
    for (const [method, path, body] of routes)
      assert.equal(
        await refusalOf(await call(method, `/schedules/${tool}${path}`, body, token)),
        '404 not_found',
        `${method} ${tool}${path}`,
      )
  const listOf = async (token: string) =>
    (await bodyOf(await call('GET', '/schedules', undefined, token), page)).schedules.map(({ tool }) => tool)
  assert.deepEqual([await listOf(ofTool.token), await listOf(ofTopic.token)], [['seen'], []])
  assert.equal((await call('GET', '/schedules/seen', undefined, ofTool.token)).status, 200)
})

test('each route asks for its scope, and reads no body that is none or too large', async () => {
  await makeCrons(['strict'])
  const { token } = await makeKey(pool, { scopes: scopes.filter((scope) => scope !== 'schedules:manage') })
  for (const [method, path, body] of [['GET', 's', undefined] as const, ...routes]) {
    const at = path === 's' ? '/schedules' : `/schedules/strict${path}`
    await assertAsksFor(call, token, [method, at, body])
    if (body === undefined) continue
    await assertRefusesBodies(call, method, at)
  }
})

test('an API whose clock is ahead changes schedules at the time that the scheduler goes by', async (t) => {
  await makeCrons(
    ['ahead', { schedule: '*/1', overlap: 'allow' }],
    ['ahead_2', { schedule: '*/1', overlap: 'allow' }],
  )
  const aheadMs = 3_600_000
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + aheadMs })
  const realMs = () => Date.now() - aheadMs
  const isNow = (text: string) => assert.ok(Math.abs(Date.parse(text) - realMs()) < 120_000, text)

  const changed = await change('ahead', { schedule: '*/2' })
  isNow(changed.last_tick_at)
  isNow(changed.next[0]?.at ?? '')
  const paused = await bodyOf(await call('POST', '/schedules/ahead/pause', { reason: 'r' }), schedule)
  isNow(paused.paused?.at ?? '')
  const resumed = await bodyOf(await call('POST', '/schedules/ahead/resume'), schedule)
  isNow(resumed.last_tick_at)
  isNow(resumed.next[0]?.at ?? '')
  const listed = await bodyOf(await call('GET', '/schedules?limit=200'), page)
  isNow(listed.schedules.find(({ tool }) => tool === 'ahead_2')?.next[0]?.at ?? '')

  const triggered = await call('POST', '/schedules/ahead_2/trigger')
  assert.equal(triggered.status, 202)
  const until = new Date(Date.now() - 60_000).toISOString()
  const range = { from: new Date(realMs() - 600_000).toISOString(), until }
  assert.equal(
    await refusalOf(await call('POST', '/schedules/ahead_2/backfill', range)),
    '422 invalid_request',
  )
  const { ticks, next } = await bodyOf(await call('GET', '/schedules/ahead_2'), withTicks)
  isNow(next[0]?.at ?? '')
  assert.ok(ticks.length > 0)
  for (const { tick_at } of ticks) isNow(tick_at)
})
