import { priorityDefault } from '@toolyard/contract/call-limits'
import { defaultRepeatStrategy } from 'bullmq'
import type { RawQueue } from './backend.ts'
import type { JobData, QueueName } from './names.ts'
import { assertJobData, assertJobId } from './names.ts'
import { QueueError } from './queue-error.ts'
import { jobOptions, storedPriority } from './stored-job.ts'

/** When an alarm goes off: by a cron pattern (five or six fields) in a time zone, or at a fixed interval. */
export type AlarmRule = { pattern: string; timezone: string } | { everyMs: number }

export type Alarm = { id: string; rule: AlarmRule; nextAt: Date | undefined }

export type SetAlarm<Q extends QueueName> = { id: string; rule: AlarmRule; data: JobData<Q> }

const everyMinMs = 100
const alarmsMax = 10_000

export async function setAlarm<Q extends QueueName>(
  queue: RawQueue,
  name: Q,
  alarm: SetAlarm<Q>,
): Promise<void> {
  const { id, rule, data } = alarm
  assertJobId(id)
  assertJobData(name, data)
  assertRule(id, rule)
  const repeat = 'everyMs' in rule ? { every: rule.everyMs } : { pattern: rule.pattern, tz: rule.timezone }
  const opts = { ...jobOptions, priority: storedPriority(priorityDefault) }
  await queue.upsertJobScheduler(id, repeat, { name, data, opts })
}

export async function removeAlarm(queue: RawQueue, id: string): Promise<void> {
  await queue.removeJobScheduler(id)
}

export async function listAlarms(queue: RawQueue): Promise<Alarm[]> {
  const schedulers = await queue.getJobSchedulers(0, alarmsMax - 1, true)
  return schedulers.map((scheduler) => ({
    id: scheduler.key,
    rule:
      scheduler.every === undefined
        ? { pattern: scheduler.pattern ?? '', timezone: scheduler.tz ?? 'UTC' }
        : { everyMs: scheduler.every },
    nextAt: scheduler.next === undefined ? undefined : new Date(scheduler.next),
  }))
}

/** BullMQ sets no alarm, and says nothing, for a pattern that never comes; and reads a one-field pattern as it likes. */
function assertRule(id: string, rule: AlarmRule): void {
  if ('everyMs' in rule) {
    if (Number.isSafeInteger(rule.everyMs) && rule.everyMs >= everyMinMs) return
    throw new QueueError('refused', `${id}: an interval is a whole number of at least ${everyMinMs} ms`)
  }
  const fieldCount = rule.pattern.trim().split(/\s+/).length
  if (fieldCount !== 5 && fieldCount !== 6) {
    throw new QueueError('refused', `${id}: a cron pattern has five or six fields, not ${fieldCount}`)
  }
  if (nextTime(id, rule) === undefined) {
    throw new QueueError('refused', `${id}: the pattern ${JSON.stringify(rule.pattern)} never comes`)
  }
}

function nextTime(id: string, rule: { pattern: string; timezone: string }): unknown {
  try {
    return defaultRepeatStrategy(Date.now(), { pattern: rule.pattern, tz: rule.timezone })
  } catch (cause) {
    const shown = `${JSON.stringify(rule.pattern)} in time zone ${JSON.stringify(rule.timezone)}`
    throw new QueueError('refused', `${id}: cannot read the cron pattern ${shown}`, cause)
  }
}
