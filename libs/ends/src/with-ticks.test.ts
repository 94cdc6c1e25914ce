import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey } from '@toolyard/access/create-key'
import type { Within } from '@toolyard/invocations/close-rows'
import type { AttemptOutcome } from '@toolyard/invocations/decide-end'
import { finish } from '@toolyard/invocations/finish'
import { failure } from '@toolyard/invocations/fixtures/outcomes'
import { claimOne } from '@toolyard/invocations/fixtures/world'
import { fireDue } from '@toolyard/schedules/fire-due'
import type { CronTool } from '@toolyard/schedules/fixtures/ground'
import { at, invocationOf, makeGround, operator, succeeded } from '@toolyard/schedules/fixtures/ground'
import { reconcile } from '@toolyard/schedules/reconcile'
import { withTicks } from './with-ticks.ts'

const ground = await makeGround()
const { deps, pool } = ground
const { key } = await createKey(pool, operator, { name: 'listener', scopes: ['webhooks:manage'] })
await pool.query(
  `insert into webhooks (id, key_id, url, description, events)
   values ('whk_listener', $1, 'http://127.0.0.1:9/', '', '{prompt.created}')`,
  [key.id],
)

/** What whoever writes before us wants told. */
const before: Within = async () => ({
  deliveries: [{ id: 'before', data: { deliveryId: 'before' } }],
  ticks: [{ id: 'before', data: { tool: 'before' } }],
})

/** Ends the run of 10:01 while `until` is what the clock shows, and gives what is told after that commit. */
async function endFirst(
  tool: string,
  outcome: AttemptOutcome,
  { until = '10:01:00', ...cron }: CronTool & { until?: string } = {},
) {
  await ground.makeCron(tool, cron)
  await reconcile(deps, at('10:00:00'))
  const id = invocationOf(await fireDue(deps, [tool], at('10:01:00')))
  await fireDue(deps, [tool], at(until))
  const hold = await claimOne(deps, id)
  const warnings: unknown[] = []
  const log = { warn: (message: string, fields?: object) => void warnings.push({ message, ...fields }) }
  ground.effects()
  await finish(deps, { hold, outcome, within: withTicks(before, log) })
  const { deliveries, ticks } = ground.effects()
  return { id, deliveries, ticks, warnings }
}

test('a prompt is told to who listens, without its text, beside what others had to tell', async () => {
  const { id, deliveries, ticks, warnings } = await endFirst('digest', succeeded({ priority: 'low' }))
  const { rows } = await pool.query<{
    id: string
    event: string
    topic: string
    data: Record<string, unknown>
  }>("select id, event, topic, data from deliveries where tool = 'digest'")
  const [told, ...others] = rows
  assert.ok(told !== undefined && others.length === 0)
  assert.deepEqual(deliveries, ['before', `${told.id}-1`])
  assert.deepEqual([told.event, told.topic], ['prompt.created', 'cron:digest'])
  const { id: promptId, ...data } = told.data
  assert.match(String(promptId), /^prm_/)
  assert.deepEqual(data, { invocation_id: id, tick_at: '2031-05-05T10:01:00.000Z', priority: 'low' })
  assert.deepEqual([ticks, warnings], [['before'], []])
})

test('a tick that waits for the run is rung for', async () => {
  const end = await endFirst('queued', succeeded({ notify: false }), {
    overlap: 'buffer_one',
    until: '10:02:00',
  })
  assert.deepEqual(end.deliveries, ['before'])
  assert.deepEqual(end.ticks, ['before', `ended-${end.id}`])
})

test('a schedule that its failures pause is logged, with why', async () => {
  const { warnings, deliveries } = await endFirst('failing', failure, { pause_after: 1 })
  assert.deepEqual(deliveries, ['before'])
  const { paused_reason: reason } = await ground.scheduleOf('failing')
  assert.ok(reason !== null)
  assert.deepEqual(warnings, [{ message: 'a schedule is paused', tool: 'failing', reason }])
})
