import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invocationShape } from '@toolyard/contract/invocations'
import { backfilledShape, scheduleWithTicksShape, triggeredShape } from '@toolyard/contract/schedules'
import { scopes } from '@toolyard/contract/scopes'
import { makeGround } from '@toolyard/schedules/fixtures/ground'
import { reconcile } from '@toolyard/schedules/reconcile'
import { bodyOf, problemOf, refusalOf } from '../../fixtures/answers.ts'
import { callerOf } from '../../fixtures/caller.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { makeKey } from '../../fixtures/test-keys.ts'

const ground = await makeGround()
const { pool, database } = ground
const api = await testApi({ databaseUrl: database.url })
const admin = await makeKey(pool, { scopes: [...scopes] })

const triggered = triggeredShape.strict()
const backfilled = backfilledShape.strict()

const call = callerOf(api.url, admin.token)

const trigger = (tool: string, body?: object) => call('POST', `/schedules/${tool}/trigger`, body)

/** Of a cron tool that is not due while the test runs, unless it is told otherwise. */
async function makeCron(tool: string, cron: Parameters<typeof ground.makeCron>[1] = {}, since = new Date()) {
  await ground.makeCron(tool, { schedule: '0 0 29 2 *', ...cron })
  await reconcile(ground.deps, since)
}

test('a run that is triggered is the tool called by its schedule, and what runs already counts', async () => {
  await makeCron('weekly')
  const first = await trigger('weekly')
  assert.equal(first.status, 202)
  const { fate, tick_at, invocation_id: id } = await bodyOf(first, triggered)
  assert.deepEqual([fate, first.headers.get('location')], ['fired', `/invocations/${id}`])
  assert.ok(Math.abs(Date.parse(tick_at ?? '') - Date.now()) < 60_000)
  const invocation = await bodyOf(await call('GET', `/invocations/${id}`), invocationShape.strict())
  assert.deepEqual(
    [invocation.tool, invocation.topic, invocation.metadata],
    ['weekly', 'cron:weekly', { origin: 'manual', tick_at }],
  )
  assert.equal((await api.queues.counts('invocations')).waiting, 1)

  const second = await trigger('weekly', {})
  assert.equal(second.status, 200)
  assert.deepEqual(await bodyOf(second, triggered), { fate: 'skipped', tick_at: null, invocation_id: null })
  const waits = await bodyOf(await trigger('weekly', { overlap: 'buffer_one' }), triggered)
  assert.deepEqual([waits.fate, waits.invocation_id], ['buffered', null])
  const beside = await bodyOf(await trigger('weekly', { overlap: 'allow' }), triggered)
  assert.equal(beside.fate, 'fired')
  const instead = await bodyOf(await trigger('weekly', { overlap: 'cancel_other' }), triggered)
  assert.equal(instead.fate, 'fired')
  assert.equal((await bodyOf(await call('GET', `/invocations/${id}`), invocationShape)).status, 'cancelled')
  assert.equal(await refusalOf(await trigger('weekly', { overlap: 'x' })), '422 invalid_request')
})

test('a run that is cancelled through the API ends its tick, and what waited for it begins', async () => {
  await makeCron('cancelled', { overlap: 'buffer_one' })
  const { invocation_id: id } = await bodyOf(await trigger('cancelled'), triggered)
  assert.equal((await bodyOf(await trigger('cancelled'), triggered)).fate, 'buffered')
  assert.equal((await call('POST', `/invocations/${id}/cancel`)).status, 200)
  const { ticks } = await bodyOf(await call('GET', '/schedules/cancelled'), scheduleWithTicksShape.strict())
  assert.equal(ticks.find((tick) => tick.invocation_id === id)?.status, 'cancelled')
  assert.equal((await bodyOf(await trigger('cancelled'), triggered)).fate, 'buffered')
  const after = await ground.ticks('cancelled')
  assert.deepEqual(
    after.map(({ fate, status }) => [fate, status]),
    [
      ['fired', 'cancelled'],
      ['fired', null],
      ['buffered', null],
    ],
  )
})

test('what could only fail is refused in the words that a call is refused with', async () => {
  await makeCron('needy', { manifest: { parameters: { city: { type: 'string', required: true } } } })
  await makeCron('locked', { manifest: { config_schema: { token: { secret: true, required: true } } } })
  await makeCron('off')
  await call('POST', '/tools/off/disable')
  for (const [tool, refusal] of [
    ['needy', '422 invalid_params'],
    ['locked', '409 not_configured'],
    ['off', '409 tool_disabled'],
  ] as const)
    assert.equal(await refusalOf(await trigger(tool)), refusal, tool)
  await pool.query("update tools set removed_at = clock_timestamp() where name = 'off'")
  assert.equal(await refusalOf(await trigger('off')), '404 not_found')
})

test('a backfill runs what did not run, once, and says how much of the range had run', async () => {
  const hourMs = 3_600_000
  const base = new Date(Math.floor(Date.now() / hourMs) * hourMs - 3 * hourMs)
  await makeCron('hourly', { schedule: '0 * * * *', catch_up_seconds: 60 }, base)
  await reconcile(ground.deps, new Date())
  const range = {
    from: new Date(base.getTime() + 1_000).toISOString(),
    until: new Date(base.getTime() + 3 * hourMs).toISOString().replace('Z', '+00:00'),
  }
  const fill = (body: object) => call('POST', '/schedules/hourly/backfill', body)
  const first = await fill(range)
  assert.equal(first.status, 202)
  const { added, already } = await bodyOf(first, backfilled)
  // The last hour fired by itself where the test began within its first minute.
  assert.ok(added + already === 3 && already <= 1, JSON.stringify({ added, already }))
  assert.deepEqual(await bodyOf(await fill(range), backfilled), { added: 0, already: 3 })
  const fates = (await ground.ticks('hourly')).slice(0, 3).map(({ fate }) => fate)
  assert.deepEqual(fates.toSorted(), ['buffered', 'buffered', 'fired'])
})

test('a range that cannot be meant is refused with the field', async () => {
  await makeCron('ranged', { schedule: '* * * * * *' }, new Date(Date.now() - 7_200_000))
  const from = new Date(Date.now() - 3_000_000).toISOString()
  const dayMs = 86_400_000
  const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString()
  for (const [body, pointer] of [
    [{ from }, '/until'],
    [{ from: 'yesterday', until: from }, '/from'],
    [{ from: '2026-01-01', until: from }, '/from'],
    [{ from: inDays(-1), until: inDays(-2) }, '/until'],
    [{ from, until: inDays(1) }, '/until'],
    [{ from: inDays(-30.1), until: from }, '/from'],
    [{ from, until: new Date().toISOString() }, '/until'],
    [{ from, until: from, overlap: 'allow' }, '/overlap'],
  ] as const) {
    const {
      status,
      code,
      faults = [],
    } = await problemOf(await call('POST', '/schedules/ranged/backfill', body))
    assert.deepEqual(
      [status, code, faults[0]?.pointer],
      [422, 'invalid_request', pointer],
      JSON.stringify(body),
    )
  }
})
