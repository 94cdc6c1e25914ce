import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { failure } from '@toolyard/invocations/fixtures/outcomes'
import type { CronTool } from '../../fixtures/ground.ts'
import { at, boundKey, inWords, invocationOf, makeGround, operator } from '../../fixtures/ground.ts'
import { fireDue } from '../ticks/fire-due.ts'
import type { TimingChange } from './change-schedule.ts'
import { changeSchedule } from './change-schedule.ts'
import { getSchedule } from './list-schedules.ts'
import { pauseSchedule } from './pause-schedule.ts'
import { resumeSchedule } from './resume-schedule.ts'
import { syncSchedules } from './sync-schedules.ts'

const ground = await makeGround()
const { deps, pool } = ground

async function begin(name: string, cron: CronTool = {}) {
  await ground.makeCron(name, { overlap: 'allow', ...cron })
  await syncSchedules(pool, at('10:00:00'))
  return {
    fire: async (time: string) => inWords(await fireDue(deps, [name], at(time))),
    pause: (time: string, reason = 'too loud') =>
      pauseSchedule(deps, operator, { tool: name, reason, now: at(time) }),
    resume: (time: string, catchUp = false) =>
      resumeSchedule(deps, operator, { tool: name, catchUp, now: at(time) }),
    change: (time: string, change: TimingChange) =>
      changeSchedule(deps, operator, { tool: name, change, now: at(time) }),
    all: async () => inWords(await ground.ticks(name)),
  }
}

const faultsOf = (error: unknown) =>
  error instanceof AppError ? [error.code, ...error.faults.map(({ pointer }) => pointer)] : [error]

async function refusalOf(work: Promise<unknown>): Promise<unknown[]> {
  return work.then(
    () => ['nothing was refused'],
    (error: unknown) => faultsOf(error),
  )
}

test('what was due before a pause comes, what is due during it does not, and after it all goes on', async () => {
  const { fire, pause, resume, all } = await begin('quiet')
  await pause('10:02:30')
  assert.deepEqual(await all(), ['10:01 fired', '10:02 fired'])
  const { paused_reason, next_tick_at } = await ground.scheduleOf('quiet')
  assert.deepEqual([paused_reason, next_tick_at], ['too loud', null])
  assert.deepEqual(await fire('10:05:00'), [])
  await resume('10:05:30')
  assert.deepEqual(await fire('10:06:00'), ['10:06 fired'])
  assert.deepEqual(await all(), ['10:01 fired', '10:02 fired', '10:06 fired'])
})

test('however much was due before a pause, all of it is settled by then', async () => {
  const { pause } = await begin('behind', { schedule: '* * * * * *', overlap: 'skip' })
  await pause('10:35:00')
  assert.equal((await ground.ticks('behind')).length, 2_100)
})

test('a resumption makes up for the pause where it is asked to, as far as ticks may be late', async () => {
  const { pause, resume, all } = await begin('made_up', { catch_up_seconds: 120 })
  await pause('10:01:00')
  await resume('10:05:30', true)
  assert.deepEqual(await all(), [
    '10:01 fired',
    '10:02 missed late',
    '10:03 missed late',
    '10:04 fired',
    '10:05 fired',
  ])
})

test('failures that paused it are forgiven; what was due before that and had not come is a miss', async () => {
  const { fire, resume, all } = await begin('forgiven', { pause_after: 1 })
  const [id] = (await fireDue(deps, ['forgiven'], at('10:01:00'))).map(({ invocationId }) => invocationId)
  await ground.end(id ?? '', failure)
  // As if that had been just after two more were due.
  await pool.query("update schedules set paused_at = $1 where tool = 'forgiven'", [at('10:03:00')])
  await resume('10:04:30')
  assert.deepEqual(await all(), ['10:01 fired', '10:02 missed paused', '10:03 missed paused'])
  const { failures, missed_count } = await ground.scheduleOf('forgiven')
  assert.deepEqual([failures, missed_count], [0, 2])
  assert.deepEqual(await fire('10:05:00'), ['10:05 fired'])
})

test('a tick that waits when its schedule is paused is skipped by the resumption', async () => {
  const { fire, pause, resume, all } = await begin('held_back', { overlap: 'buffer_one' })
  const running = invocationOf(await fireDue(deps, ['held_back'], at('10:01:00')))
  await fire('10:02:00')
  await pause('10:02:30')
  await ground.end(running)
  assert.deepEqual(await fire('10:02:40'), [], 'nothing begins while it is paused')
  await resume('10:04:30')
  assert.deepEqual(await all(), ['10:01 fired', '10:02 skipped paused'])
})

test('a pause needs a reason that can be shown, and a second one is the reason from then on', async () => {
  const { pause, resume } = await begin('reasons')
  for (const reason of ['', '   ', 'a\u0000b', 'two\nlines', 'x'.repeat(501)])
    assert.deepEqual(await refusalOf(pause('10:00:30', reason)), ['invalid_request', '/reason'])
  await pause('10:00:30', ' first ')
  await pause('10:00:40', 'second')
  const shown = await getSchedule(pool, operator.actor, { tool: 'reasons', now: at('10:01:00') })
  assert.deepEqual([shown.paused, shown.next], [{ at: at('10:00:30').toISOString(), reason: 'second' }, []])
  await resume('10:01:00')
  await resume('10:02:30')
  // To resume what is not paused changes nothing: 10:02 is not forgotten.
  assert.deepEqual(inWords(await ground.ticks('reasons')), ['10:02 fired'])
})

test('an override outlasts versions of the tool, and its absence is what the manifest says', async () => {
  const { fire, change, all } = await begin('changed', { schedule: '*/10' })
  const { schedule, next, overrides } = await change('10:12:00', { schedule: '*/5', overlap: 'skip' }).then(
    () => getSchedule(pool, operator.actor, { tool: 'changed', now: at('10:12:00') }),
  )
  assert.deepEqual([schedule, overrides], ['*/5', ['overlap', 'schedule']])
  assert.deepEqual(
    next.map((one) => one.at),
    ['10:15', '10:20', '10:25', '10:30', '10:35'].map((time) => at(`${time}:00`).toISOString()),
  )
  assert.deepEqual(await fire('10:15:00'), ['10:15 skipped overlap'])
  await ground.makeCron('changed', { version: 2, schedule: '*/30', overlap: 'allow', jitter_seconds: 9 })
  await change('10:16:00', { overlap: null, jitter_seconds: 0 })
  assert.deepEqual(await fire('10:25:00'), ['10:20 fired', '10:25 fired'])
  await change('10:26:00', { schedule: null })
  assert.deepEqual(await fire('11:00:00'), ['10:30 fired', '11:00 fired'])
  assert.deepEqual((await all()).slice(0, 2), ['10:10 fired', '10:15 skipped overlap'])
})

test('a change that cannot be meant changes nothing, and says where', async () => {
  const { change } = await begin('refused')
  const cases: [TimingChange, string[]][] = [
    [{ schedule: '0 25 * * *' }, ['/schedule']],
    [{ schedule: '' }, ['/schedule']],
    [{ schedule: 'a\u0000b' }, ['/schedule']],
    [{ timezone: 'Mars/Olympus' }, ['/timezone']],
    [{ catch_up_seconds: -1, jitter_seconds: 4_000 }, ['/catch_up_seconds', '/jitter_seconds']],
    [{ pause_after: 1_001 }, ['/pause_after']],
  ]
  for (const [wish, pointers] of cases) {
    const refused = await refusalOf(change('10:00:30', wish))
    assert.deepEqual(refused, ['invalid_request', ...pointers], JSON.stringify(wish))
  }
  assert.deepEqual((await ground.scheduleOf('refused')).next_tick_at, at('10:01:00'))
  // Of what the manifest pauses an operator may say that it does not.
  await begin('patient', { pause_after: 1 })
  await changeSchedule(deps, operator, { tool: 'patient', change: { pause_after: 0 }, now: at('10:00:30') })
  const shown = await getSchedule(pool, operator.actor, { tool: 'patient', now: at('10:00:30') })
  assert.equal(shown.pause_after, null)
})

test('whoever may not manage schedules, or not see this one, changes none', async () => {
  await begin('guarded')
  const now = at('10:00:30')
  const by = (actor: ReturnType<typeof boundKey>) =>
    refusalOf(pauseSchedule(deps, { actor }, { tool: 'guarded', reason: 'no', now }))
  const key = boundKey()
  assert.deepEqual(await by({ kind: 'key', key: { ...key.key, scopes: ['prompts:consume'] } }), [
    'missing_scope',
  ])
  assert.deepEqual(await by(boundKey({ tools: ['other'] })), ['not_found'])
  // A topic is not the topic of its ticks, whatever its name.
  assert.deepEqual(await by(boundKey({ topics: ['guarded', 'trip'] })), ['not_found'])
  assert.deepEqual(await refusalOf(pauseSchedule(deps, operator, { tool: 'weather', reason: 'no', now })), [
    'not_found',
  ])
  assert.deepEqual(await refusalOf(pauseSchedule(deps, operator, { tool: 'a\0', reason: 'no', now })), [
    'not_found',
  ])
  assert.equal((await ground.scheduleOf('guarded')).paused_reason, null)
  assert.deepEqual(await by(boundKey({ tools: ['guarded'] })), ['nothing was refused'])
})

test('every change is in the audit', async () => {
  const { pause, resume, change } = await begin('audited')
  await change('10:00:10', { overlap: 'skip' })
  await pause('10:00:20', 'for now')
  await resume('10:00:30')
  const { rows } = await pool.query<{ action: string; detail: object }>(
    "select action, detail from audit where target = 'schedule:audited' order by id",
  )
  const said = rows.map(({ action, detail }) => `${action} ${JSON.stringify(detail)}`)
  assert.deepEqual(said.toSorted(), [
    'schedule.change {"overlap":"skip"}',
    'schedule.pause {"reason":"for now"}',
    'schedule.resume {"catch_up":false}',
  ])
})
