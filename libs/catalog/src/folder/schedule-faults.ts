import type { Fault } from '@toolyard/contract/errors'
import { trigger } from '@toolyard/contract/manifest'
import { readSchedule } from '@toolyard/schedules/rules/schedule'

/** What is wrong with when a manifest's tool is to run. A trigger whose shape is wrong has its own faults. */
export function scheduleFaults(manifest: unknown): Fault[] {
  const given =
    typeof manifest === 'object' && manifest !== null && 'trigger' in manifest ? manifest.trigger : null
  const parsed = trigger.safeParse(given)
  if (!parsed.success || parsed.data.type !== 'cron') return []
  const read = readSchedule(parsed.data.schedule, parsed.data.timezone)
  if (!('faults' in read)) return []
  return read.faults.map(({ field, detail }) => ({ pointer: `/trigger/${field}`, detail }))
}
