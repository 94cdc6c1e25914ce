import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import type { CronTool } from '../../fixtures/ground.ts'
import { at, inWords, invocationOf, makeGround, operator } from '../../fixtures/ground.ts'
import { listPrompts } from '../prompts/list-prompts.ts'
import { pauseSchedule } from '../schedules/pause-schedule.ts'
import { resumeSchedule } from '../schedules/resume-schedule.ts'
import type { Overlap } from '../schedules/schedule.ts'
import { syncSchedules } from '../schedules/sync-schedules.ts'
import { backfill } from './backfill.ts'
import { fireDue } from './fire-due.ts'
import { triggerNow } from './trigger-now.ts'

const ground = await makeGround()
const { deps, pool } = ground

async function begin(name: string, cron: CronTool = {}) {
  await ground.makeCron(name, cron)
  await syncSchedules(pool, at('10:00:00'))
  return {
    fire: async (time: string) => inWords(await fireDue(deps, [name], at(time))),
    trigger: (time: string, overlap?: Overlap) =>
      triggerNow(deps, operator, { tool: name, now: at(time), overlap }),
    fill: (from: string, until: string, now = until) =>
      backfill(deps, operator, { tool: name, from: at(from), until: at(until), now: at(now), knownDays: 30 }),
    all: async () => inWords(await ground.ticks(name)),
    running: async () => {
      const { rows } = await pool.query<{ id: string; tick_at: string }>(
        `select id, metadata ->> 'tick_at' as tick_at from invocations join invocation_inputs using (id)
         where tool = $1 and gate <> 'closed' order by id`,
        [name],
      )
      return rows
    },
  }
}

async function refusalOf(refused: Promise<unknown>) {
  const error: unknown = await refused.then(
    () => assert.fail('it was not refused'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof AppError)
  return [error.code, error.message, error.faults]
}

const isCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

test('a run now is a tick of its own, and takes no tick of the schedule away', async () => {
  const { trigger, fire, all } = await begin('asked', { overlap: 'allow' })
  const fired = await Promise.all([trigger('10:01:00'), trigger('10:01:00'), trigger('10:01:00')])
  assert.deepEqual(
    fired.map(({ kind }) => kind),
    ['fired', 'fired', 'fired'],
  )
  assert.deepEqual(await fire('10:01:00'), [], 'what was due was settled first')
  assert.deepEqual(await all(), ['10:01 fired', '10:01 fired', '10:01 fired', '10:01 fired'])
  const ticks = await ground.ticks('asked')
  assert.deepEqual(
    ticks.map(({ tickAt, origin }) => `${tickAt.getTime() % 1_000} ${origin}`),
    ['0 schedule', '1 manual', '2 manual', '3 manual'],
  )
  const [first] = fired
  assert.ok(first?.kind === 'fired')
  await ground.end(first.invocationId)
  assert.equal((await listPrompts(pool, operator.actor, { tool: 'asked' })).prompts.length, 1)
})

test('a run now gives way as every tick would, unless it is asked for otherwise', async () => {
  const { trigger, all } = await begin('polite', { overlap: 'skip' })
  const first = await trigger('10:00:10')
  assert.equal(first.kind, 'fired')
  assert.deepEqual(await trigger('10:00:20'), { kind: 'skipped' })
  assert.deepEqual(await trigger('10:00:20', 'buffer_one'), {
    kind: 'buffered',
    tickAt: new Date(at('10:00:20').getTime() + 1),
  })
  assert.deepEqual(await trigger('10:00:25', 'buffer_one'), { kind: 'skipped' })
  assert.equal((await trigger('10:00:30', 'allow')).kind, 'fired')
  assert.equal((await trigger('10:00:40', 'cancel_other')).kind, 'fired')
  const ticks = await ground.ticks('polite')
  assert.deepEqual(
    ticks.map(({ fate, status }) => `${fate} ${status}`),
    ['fired cancelled', 'buffered null', 'fired cancelled', 'fired null'],
  )
  assert.equal((await all()).length, 4)
})

test('a run now is for whoever asks also while the schedule is paused', async () => {
  const { trigger } = await begin('resting')
  await pauseSchedule(deps, operator, { tool: 'resting', reason: 'r', now: at('10:00:05') })
  assert.equal((await trigger('10:00:10')).kind, 'fired')
  assert.notEqual((await ground.scheduleOf('resting')).paused_reason, null)
})

test('a run now that the tool is refused for is refused in its words, and leaves nothing', async () => {
  const { trigger, all } = await begin('closed')
  await pool.query("update tools set enabled = false where name = 'closed'")
  await assert.rejects(trigger('10:00:10'), isCode('tool_disabled'))
  await pool.query("update tools set enabled = true where name = 'closed'")
  const needy = await begin('wanting', {
    manifest: { parameters: { city: { type: 'string', required: true } } },
  })
  const needs = [{ pointer: '/params/city', detail: 'is required' }]
  assert.deepEqual(await refusalOf(needy.trigger('10:00:10')), [
    'invalid_params',
    'wanting: a tick gives no params: /params/city is required',
    needs,
  ])
  const unset = await begin('bare', { manifest: { config_schema: { token: { required: true } } } })
  assert.deepEqual(await refusalOf(unset.trigger('10:00:10')), [
    'not_configured',
    'bare lacks settings: token',
    [{ pointer: '/config/token', detail: 'PUT /tools/bare/config must store it' }],
  ])
  assert.deepEqual(await all(), [])
})

test('a run now beyond the budget is refused until midnight in UTC', async () => {
  const { trigger } = await begin('frugal', {
    overlap: 'allow',
    manifest: { constraints: { cost_budget: 2 } },
  })
  const runs = await Promise.allSettled(Array.from({ length: 6 }, (_, n) => trigger(`10:00:1${n}`)))
  const refused = runs.flatMap((run) => (run.status === 'rejected' ? [run.reason] : []))
  assert.equal(refused.length, 4)
  for (const error of refused) {
    assert.ok(error instanceof AppError && error.code === 'budget_exhausted')
    const [, resetsAt = ''] = /fresh at (\S+T00:00:00\.000Z)$/.exec(error.message) ?? []
    const seconds = (Date.parse(resetsAt) - Date.now()) / 1_000
    assert.ok(Math.abs((error.retryAfterSeconds ?? 0) - seconds) < 30, error.message)
  }
})

test('a backfill runs what did not run, one after the other, the oldest first, each once', async () => {
  const { fire, fill, all, running } = await begin('filled', { overlap: 'skip', catch_up_seconds: 60 })
  const first = invocationOf(await fireDue(deps, ['filled'], at('10:01:00')))
  await fire('10:02:00')
  await ground.end(first)
  await fire('10:06:00')
  await ground.end((await running())[0]?.id ?? '')
  const before = [
    '10:01 fired',
    '10:02 skipped overlap',
    '10:03 missed late',
    '10:04 missed late',
    '10:05 fired',
    '10:06 skipped overlap',
  ]
  assert.deepEqual(await all(), before)
  assert.deepEqual(await fill('10:00:30', '10:05:30', '10:06:10'), { added: 3, already: 2 })
  const order = []
  for (let [one] = await running(); one !== undefined; [one] = await running()) {
    assert.equal((await running()).length, 1, 'one at a time')
    order.push(one.tick_at)
    await ground.end(one.id)
    await fire('10:06:20')
  }
  assert.deepEqual(
    order,
    ['10:02', '10:03', '10:04'].map((time) => at(`${time}:00`).toISOString()),
  )
  assert.deepEqual(await fill('10:00:30', '10:05:30', '10:06:30'), { added: 0, already: 5 })
  assert.deepEqual(
    (await all()).filter((one) => !one.endsWith('fired')),
    ['10:06 skipped overlap'],
  )
})

test('a backfill of a schedule whose runs may stand beside each other runs them together', async () => {
  const { fire, fill, running } = await begin('parallel', { overlap: 'allow', catch_up_seconds: 0 })
  await fire('10:05:00')
  assert.deepEqual(await fill('10:01:00', '10:04:00', '10:05:00'), { added: 4, already: 0 })
  const times = (await running()).map(({ tick_at }) => tick_at.slice(11, 16)).toSorted()
  assert.deepEqual(times, ['10:01', '10:02', '10:03', '10:04', '10:05'])
})

for (const overlap of ['skip', 'buffer_one'] as const)
  test(`a backfill keeps no tick from running, which waits for the run before it and goes first (${overlap})`, async () => {
    const name = `aside_${overlap}`
    const { fire, fill, running } = await begin(name, { overlap, catch_up_seconds: 0 })
    await fire('10:05:30')
    assert.deepEqual(await fill('10:01:00', '10:05:00', '10:05:40'), { added: 5, already: 0 })
    const order: string[] = []
    const endOne = async (time: string) => {
      const [one, ...beside] = await running()
      assert.ok(one)
      assert.deepEqual(beside, [], 'one at a time')
      order.push(one.tick_at.slice(11, 16))
      await ground.end(one.id)
      await fire(time)
    }
    for (let minute = 6; minute <= 8; minute++) {
      const time = `10:0${minute}`
      assert.deepEqual(await fire(`${time}:00`), [`${time} buffered`])
      await endOne(`${time}:10`)
      await endOne(`${time}:20`)
    }
    assert.deepEqual(order, ['10:01', '10:06', '10:02', '10:07', '10:03', '10:08'])
    assert.equal((await ground.scheduleOf(name)).skipped_count, 0)
  })

test('a run now waits for the end of a backfill run as well, and goes before the others', async () => {
  const { fire, fill, trigger, running } = await begin('impatient', { overlap: 'skip', catch_up_seconds: 0 })
  await fire('10:03:30')
  await fill('10:01:00', '10:03:00', '10:03:40')
  assert.equal((await trigger('10:03:45')).kind, 'buffered')
  assert.deepEqual(await trigger('10:03:46'), { kind: 'skipped' })
  await ground.end((await running())[0]?.id ?? '')
  await fire('10:03:50')
  assert.deepEqual(
    (await running()).map(({ tick_at }) => tick_at.slice(11, 19)),
    ['10:03:45'],
  )
})

test('a backfill reaches back before the schedule, and waits while it is paused', async () => {
  const { fill, running } = await begin('older', { overlap: 'allow' })
  await pauseSchedule(deps, operator, { tool: 'older', reason: 'r', now: at('10:00:05') })
  assert.deepEqual(await fill('09:57:00', '09:59:59', '10:00:10'), { added: 3, already: 0 })
  assert.deepEqual(await running(), [])
  await resumeSchedule(deps, operator, { tool: 'older', catchUp: false, now: at('10:00:20') })
  assert.equal((await running()).length, 3)
})

test('a backfill has its limits', async () => {
  const { fill } = await begin('limited', { overlap: 'skip', schedule: '* * * * * *' })
  const refused = async (from: string, until: string, now = until) =>
    fill(from, until, now).then(
      () => 'nothing',
      (error: unknown) => (error instanceof AppError ? error.faults[0]?.pointer : error),
    )
  assert.equal(await refused('10:05:00', '10:04:00', '10:06:00'), '/until')
  assert.equal(await refused('10:00:00', '10:07:00', '10:06:00'), '/until')
  assert.equal(await refused('09:40:00', '09:59:59', '10:06:00'), '/until', 'more than a thousand ticks')
  const now = at('10:06:00')
  const daysAgo = (days: number, offMs = 0) => new Date(now.getTime() - days * 86_400_000 - offMs)
  const old = { tool: 'limited', from: daysAgo(7), until: daysAgo(7), now, knownDays: 7 }
  const isUnknown = (error: unknown) => error instanceof AppError && error.faults[0]?.pointer === '/from'
  await assert.rejects(backfill(deps, operator, { ...old, from: daysAgo(7, 1) }), isUnknown)
  assert.deepEqual(await backfill(deps, operator, old), { added: 1, already: 0 })
  const broken = { ...old, from: new Date(Number.NaN) }
  await assert.rejects(backfill(deps, operator, broken), isCode('invalid_request'))
  assert.deepEqual(await fill('09:50:00', '09:59:59', '10:06:00'), { added: 600, already: 0 })
  assert.equal(await refused('09:40:00', '09:49:59', '10:06:00'), '/until', 'too many would wait')
})
