import { createRoute } from '@hono/zod-openapi'
import { backfillBody, backfilledShape, triggerBody, triggeredShape } from '@toolyard/contract/schedules'
import { backfill } from '@toolyard/schedules/backfill'
import { readClock } from '@toolyard/schedules/read-clock'
import { triggerNow } from '@toolyard/schedules/trigger-now'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import { bodyRefusals, refusals, submitRefusals } from '../../http/refusals.ts'
import { scheduleParam } from './schedule-param.ts'
import type { ScheduleRouteDeps } from './schedules.ts'

const triggered = triggeredShape.meta({ id: 'Triggered' })
const backfilled = backfilledShape.meta({ id: 'Backfilled' })

const postTrigger = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/schedules/{tool}/trigger',
    tags: ['schedules'],
    ...guarded(guard, 'schedules:manage'),
    summary: 'Run it now',
    description:
      'Scope `schedules:manage`. As the schedule would, with a prompt at the end, whether it is paused or not. What runs already counts: by the `overlap` of the schedule, or the one that is named.',
    request: {
      params: scheduleParam,
      body: { required: false, content: { 'application/json': { schema: triggerBody } } },
    },
    responses: {
      200: {
        description: 'What runs is in its way: nothing was started',
        content: { 'application/json': { schema: triggered } },
      },
      202: {
        description: 'It is accepted, or waits for what runs',
        content: { 'application/json': { schema: triggered } },
      },
      ...problems(...refusals, ...bodyRefusals, ...submitRefusals, 'not_found', 'invalid_params'),
    },
  })

const postBackfill = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/schedules/{tool}/backfill',
    tags: ['schedules'],
    ...guarded(guard, 'schedules:manage'),
    summary: 'Run the times of a range that did not run',
    description:
      'Scope `schedules:manage`. Each once, the oldest first, and one after the other unless the schedule allows overlaps. At most 1,000 times, of the days of which it is known what ran (`YARD_KEEP_TICKS_DAYS`); both ends belong to the range.',
    request: {
      params: scheduleParam,
      body: { required: true, content: { 'application/json': { schema: backfillBody } } },
    },
    responses: {
      202: { description: 'They run, or wait to', content: { 'application/json': { schema: backfilled } } },
      ...problems(...refusals, ...bodyRefusals, 'not_found'),
    },
  })

export function addRunScheduleRoutes(
  api: Api,
  { schedules, knownDays, guard }: ScheduleRouteDeps & { knownDays: number },
): void {
  const { pool } = schedules
  api.openapi(postTrigger(guard), async (c) => {
    const { overlap } = c.req.valid('json') ?? {}
    const wanted = { ...c.req.valid('param'), overlap, now: await readClock(pool) }
    const made = await triggerNow(schedules, callOf(c), wanted)
    if (made.kind === 'skipped') return c.json({ fate: made.kind, tick_at: null, invocation_id: null }, 200)
    const tick = { fate: made.kind, tick_at: made.tickAt.toISOString(), invocation_id: null }
    if (made.kind === 'buffered') return c.json(tick, 202)
    c.get('event').set({ invocation_id: made.invocationId, tool: wanted.tool })
    c.header('location', `/invocations/${made.invocationId}`)
    return c.json({ ...tick, invocation_id: made.invocationId }, 202)
  })
  api.openapi(postBackfill(guard), async (c) => {
    const { from, until } = c.req.valid('json')
    const range = { from: new Date(from), until: new Date(until), now: await readClock(pool), knownDays }
    return c.json(await backfill(schedules, callOf(c), { ...c.req.valid('param'), ...range }), 202)
  })
}
