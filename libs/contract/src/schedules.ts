import { z } from 'zod'
import { printable } from './keys.ts'
import { timing } from './manifest.ts'

// What the routes about schedules take and answer.

/** What is not named stays; null goes back to what the manifest says. */
export const changeScheduleBody = z
  .strictObject({
    schedule: timing.schedule.nullable().meta({ description: 'five or six fields, */N alone, or as @daily' }),
    timezone: timing.timezone.nullable().meta({ description: 'as Europe/Berlin or +05:30' }),
    overlap: timing.overlap
      .nullable()
      .meta({ description: 'what becomes of a time while the run before it goes on' }),
    catch_up_seconds: timing.catch_up_seconds
      .nullable()
      .meta({ description: 'how late a time may still run' }),
    jitter_seconds: timing.jitter_seconds.nullable().meta({ description: 'how far starts are spread' }),
    pause_after: z.int().min(0).max(1_000).nullable().meta({
      description: 'so many failures in a row pause it; 0: none do',
    }),
  })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'must change something')

export const triggerBody = z.strictObject({
  overlap: timing.overlap.optional().meta({ description: 'instead of the schedule’s own, for this run' }),
})

export const pauseBody = z.strictObject({
  reason: printable
    .trim()
    .min(1)
    .max(500)
    .meta({ description: 'shown with the schedule while it is paused' }),
})

export const resumeBody = z.strictObject({
  catch_up: z.boolean().default(false).meta({
    description: 'whether what was due meanwhile is made up for, as far as catch_up_seconds reaches',
  }),
})

export const backfillBody = z.strictObject({
  from: z.iso
    .datetime({ offset: true })
    .max(40)
    .meta({ description: 'the first instant of the range, which has at most 1,000 times' }),
  until: z.iso.datetime({ offset: true }).max(40).meta({ description: 'the last instant of the range' }),
})

export const scheduleShape = z.object({
  tool: z.string(),
  schedule: z.string(),
  timezone: z.string(),
  overlap: timing.overlap,
  catch_up_seconds: z.int(),
  jitter_seconds: z.int(),
  pause_after: z.int().nullable().meta({ description: 'null: never' }),
  overrides: z.array(z.string()).meta({ description: 'which of these an operator has set' }),
  paused: z.object({ at: z.iso.datetime(), reason: z.string() }).nullable(),
  next: z.array(z.object({ at: z.iso.datetime(), local: z.iso.datetime({ offset: true }) })).meta({
    description: 'the next five, and what the clock of the zone shows then; none while it is paused',
  }),
  last_tick_at: z.iso.datetime().meta({ description: 'what became of the times up to here is decided' }),
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
  faults: z.array(z.string()).meta({ description: 'why no time of it can run' }),
})

const tickShape = z.object({
  tick_at: z.iso.datetime(),
  origin: z.enum(['schedule', 'manual', 'backfill']),
  fate: z.enum(['fired', 'buffered', 'skipped', 'missed']),
  reason: z.string().nullable(),
  invocation_id: z.string().nullable(),
  status: z.string().nullable().meta({ description: 'of the run, once it has ended' }),
})

/** With what became of its last 20 times, the newest first. */
export const scheduleWithTicksShape = scheduleShape.extend({ ticks: z.array(tickShape) })

export const triggeredShape = z.object({
  fate: z.enum(['fired', 'buffered', 'skipped']).meta({
    description:
      'buffered: it starts when what runs has ended; skipped: what runs is in its way, and nothing was started',
  }),
  tick_at: z.iso.datetime().nullable(),
  invocation_id: z.string().nullable(),
})

export const backfilledShape = z.object({
  added: z.int().meta({ description: 'times that run now, or one after the other, the oldest first' }),
  already: z.int().meta({ description: 'times of the range that have run, or wait to' }),
})

export type ChangeScheduleBody = z.infer<typeof changeScheduleBody>
export type ScheduleShape = z.infer<typeof scheduleShape>
export type ScheduleWithTicks = z.infer<typeof scheduleWithTicksShape>
