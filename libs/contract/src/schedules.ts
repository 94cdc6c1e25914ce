import { z } from 'zod'
import { printable } from './keys.ts'
import { timing } from './manifest.ts'

// What the routes about schedules take and answer.

/** What is not named stays; null goes back to what the manifest says. */
export const changeScheduleBody = z
  .strictObject({
    schedule: timing.schedule.nullable(),
    timezone: timing.timezone.nullable(),
    overlap: timing.overlap.nullable(),
    catch_up_seconds: timing.catch_up_seconds.nullable(),
    jitter_seconds: timing.jitter_seconds.nullable(),
    /** 0: it is never paused by itself. */
    pause_after: z.int().min(0).max(1_000).nullable(),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'must change something')

export const triggerBody = z.strictObject({
  /** Instead of the schedule's own, for this run. */
  overlap: timing.overlap.optional(),
})

export const pauseBody = z.strictObject({ reason: printable.trim().min(1).max(500) })

export const resumeBody = z.strictObject({
  /** Whether what was due meanwhile is made up for, as far as `catch_up_seconds` reaches. */
  catch_up: z.boolean().default(false),
})

export const backfillBody = z.strictObject({
  from: z.iso.datetime({ offset: true }).max(40),
  until: z.iso.datetime({ offset: true }).max(40),
})

export const scheduleShape = z.object({
  tool: z.string(),
  schedule: z.string(),
  timezone: z.string(),
  overlap: timing.overlap,
  catch_up_seconds: z.int(),
  jitter_seconds: z.int(),
  pause_after: z.int().nullable(),
  /** Which of these an operator has set. */
  overrides: z.array(z.string()),
  paused: z.object({ at: z.iso.datetime(), reason: z.string() }).nullable(),
  /** The next five, and what the clock of the zone shows then; none while it is paused. */
  next: z.array(z.object({ at: z.iso.datetime(), local: z.iso.datetime({ offset: true }) })),
  /** What became of the times up to here is decided. */
  last_tick_at: z.iso.datetime(),
  last_result: z
    .object({
      invocation_id: z.string(),
      status: z.string(),
      failure: z.object({ kind: z.string(), message: z.string() }).nullable(),
      ended_at: z.iso.datetime(),
    })
    .nullable(),
  failures_in_a_row: z.int(),
  fired: z.int(),
  skipped: z.int(),
  missed: z.int(),
  prompts_superseded: z.int(),
  /** Why no time of it can run. */
  faults: z.array(z.string()),
})

const tickShape = z.object({
  tick_at: z.iso.datetime(),
  origin: z.enum(['schedule', 'manual', 'backfill']),
  fate: z.enum(['fired', 'buffered', 'skipped', 'missed']),
  reason: z.string().nullable(),
  invocation_id: z.string().nullable(),
  /** Of the run, once it has ended. */
  status: z.string().nullable(),
})

/** With what became of its last 20 times, the newest first. */
export const scheduleWithTicksShape = scheduleShape.extend({ ticks: z.array(tickShape) })

export const triggeredShape = z.object({
  /** `buffered`: it starts when what runs has ended. `skipped`: what runs is in its way, and nothing was started. */
  fate: z.enum(['fired', 'buffered', 'skipped']),
  tick_at: z.iso.datetime().nullable(),
  invocation_id: z.string().nullable(),
})

export const backfilledShape = z.object({
  /** Times that run now, or one after the other, the oldest first. */
  added: z.int(),
  /** Times of the range that have run, or wait to. */
  already: z.int(),
})

export type ChangeScheduleBody = z.infer<typeof changeScheduleBody>
export type ScheduleShape = z.infer<typeof scheduleShape>
export type ScheduleWithTicks = z.infer<typeof scheduleWithTicksShape>
