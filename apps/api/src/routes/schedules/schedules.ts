import { createRoute, z } from '@hono/zod-openapi'
import {
  changeScheduleBody,
  pauseBody,
  resumeBody,
  scheduleShape,
  scheduleWithTicksShape,
} from '@toolyard/contract/schedules'
import { changeSchedule } from '@toolyard/schedules/change-schedule'
import type { ScheduleDeps } from '@toolyard/schedules/fire-due'
import { getSchedule, listSchedules } from '@toolyard/schedules/list-schedules'
import { pauseSchedule } from '@toolyard/schedules/pause-schedule'
import { readClock } from '@toolyard/schedules/read-clock'
import { resumeSchedule } from '@toolyard/schedules/resume-schedule'
import { toScheduleShape } from '@toolyard/schedules/schedule-shape'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { pageQuery } from '../../http/page-query.ts'
import { problems } from '../../http/problem.ts'
import { jsonAnswer } from '../../http/json-answer.ts'
import { bodyRefusals, refusals } from '../../http/refusals.ts'
import { scheduleParam } from './schedule-param.ts'

const schedule = scheduleShape.meta({ id: 'Schedule' })
const withTicks = scheduleWithTicksShape.meta({ id: 'ScheduleWithTicks' })
const page = z
  .object({ schedules: z.array(schedule), next_cursor: z.string().nullable() })
  .meta({ id: 'SchedulePage' })

const common = { tags: ['schedules'] }

const getSchedules = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/schedules',
    ...common,
    ...guarded(guard, 'schedules:manage'),
    summary: 'List the schedules, by name of the tool',
    description:
      'Scope `schedules:manage`. Each with its next five times, how its last run ended, and how many of its times were missed or skipped. A key that is bound to topics sees none: what comes of schedules belongs to the platform.',
    request: { query: pageQuery },
    responses: { ...jsonAnswer('One page', page), ...problems(...refusals, 'invalid_request') },
  })

const getOneSchedule = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/schedules/{tool}',
    ...common,
    ...guarded(guard, 'schedules:manage'),
    summary: 'Show a schedule',
    description: 'Scope `schedules:manage`. With what became of its last 20 times, the newest first.',
    request: { params: scheduleParam },
    responses: { ...jsonAnswer('The schedule', withTicks), ...problems(...refusals, 'not_found') },
  })

const patchSchedule = (guard: Guard) =>
  createRoute({
    method: 'patch',
    path: '/schedules/{tool}',
    ...common,
    ...guarded(guard, 'schedules:manage'),
    summary: 'Change a schedule',
    description:
      'Scope `schedules:manage`. What is set here outlasts new versions of the tool. What is not named stays; null goes back to what the manifest says; `pause_after: 0` never pauses it. It counts from now on.',
    request: {
      params: scheduleParam,
      body: { required: true, content: { 'application/json': { schema: changeScheduleBody } } },
    },
    responses: {
      ...jsonAnswer('The schedule, with its next five times', schedule),
      ...problems(...refusals, ...bodyRefusals, 'not_found', 'queue_full'),
    },
  })

const postPause = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/schedules/{tool}/pause',
    ...common,
    ...guarded(guard, 'schedules:manage'),
    summary: 'Pause a schedule',
    description:
      'Scope `schedules:manage`. Nothing starts by itself from now on; what runs goes on. Pausing again changes the reason.',
    request: {
      params: scheduleParam,
      body: { required: true, content: { 'application/json': { schema: pauseBody } } },
    },
    responses: {
      ...jsonAnswer('The schedule', schedule),
      ...problems(...refusals, ...bodyRefusals, 'not_found'),
    },
  })

const postResume = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/schedules/{tool}/resume',
    ...common,
    ...guarded(guard, 'schedules:manage'),
    summary: 'Let a schedule go on',
    description:
      'Scope `schedules:manage`. What was due meanwhile is left out, or, with `catch_up`, made up for as far as `catch_up_seconds` reaches. Failures are counted anew. What is not paused stays as it is.',
    request: {
      params: scheduleParam,
      body: { required: false, content: { 'application/json': { schema: resumeBody } } },
    },
    responses: {
      ...jsonAnswer('The schedule, with its next five times', schedule),
      ...problems(...refusals, ...bodyRefusals, 'not_found'),
    },
  })

export type ScheduleRouteDeps = { schedules: ScheduleDeps; guard: Guard }

export function addScheduleRoutes(api: Api, { schedules, guard }: ScheduleRouteDeps): void {
  const { pool } = schedules
  api.openapi(getSchedules(guard), async (c) => {
    const wanted = { ...c.req.valid('query'), now: await readClock(pool) }
    const found = await listSchedules(pool, callOf(c).actor, wanted)
    return c.json({ schedules: found.schedules, next_cursor: found.nextCursor }, 200)
  })
  api.openapi(getOneSchedule(guard), async (c) => {
    const { tool } = c.req.valid('param')
    return c.json(await getSchedule(pool, callOf(c).actor, { tool, now: await readClock(pool) }), 200)
  })
  api.openapi(patchSchedule(guard), async (c) => {
    const wanted = { ...c.req.valid('param'), change: c.req.valid('json'), now: await readClock(pool) }
    return c.json(toScheduleShape(await changeSchedule(schedules, callOf(c), wanted), wanted.now), 200)
  })
  api.openapi(postPause(guard), async (c) => {
    const wanted = { ...c.req.valid('param'), ...c.req.valid('json'), now: await readClock(pool) }
    return c.json(toScheduleShape(await pauseSchedule(schedules, callOf(c), wanted), wanted.now), 200)
  })
  api.openapi(postResume(guard), async (c) => {
    const { catch_up: catchUp } = c.req.valid('json') ?? { catch_up: false }
    const wanted = { ...c.req.valid('param'), catchUp, now: await readClock(pool) }
    return c.json(toScheduleShape(await resumeSchedule(schedules, callOf(c), wanted), wanted.now), 200)
  })
}
