import type { AlarmRule } from '@toolyard/queue/alarms'
import { QueueError } from '@toolyard/queue/queue-error'
import type { Queues } from '@toolyard/queue/queues'
import type { AwaitedSchedule } from '@toolyard/schedules/list-awaited'
import { alarmRule } from '@toolyard/schedules/rules/schedule'

type AlarmQueues = Pick<Queues, 'setAlarm' | 'removeAlarm' | 'listAlarms'>

/**
 * Makes the queue's alarms those of these schedules. An alarm only says that it is worth looking, so that one too many,
 * one that is missing, or one that the queue reads in another way costs nothing but a second.
 */
export async function keepAlarms(queues: AlarmQueues, awaited: readonly AwaitedSchedule[]): Promise<void> {
  const there = new Map((await queues.listAlarms('ticks')).map((alarm) => [alarm.id, alarm.rule]))
  for (const { tool, schedule, timezone } of awaited) {
    const rule = alarmRule(schedule, timezone)
    const before = there.get(tool)
    there.delete(tool)
    if (before !== undefined && isSame(before, rule)) continue
    await queues.setAlarm('ticks', { id: tool, rule, data: { tool } }).catch((error: unknown) => {
      // A pattern of ours that the queue cannot read is looked after without it.
      if (!(error instanceof QueueError) || error.reason !== 'refused') throw error
    })
  }
  for (const id of there.keys()) await queues.removeAlarm('ticks', id)
}

function isSame(a: AlarmRule, b: AlarmRule): boolean {
  if ('everyMs' in a) return 'everyMs' in b && a.everyMs === b.everyMs
  return 'pattern' in b && a.pattern === b.pattern && a.timezone === b.timezone
}
