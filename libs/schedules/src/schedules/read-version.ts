import { coerceParams } from '@toolyard/contract/coerce-params'
import type { Manifest } from '@toolyard/contract/manifest'
import { parseManifest } from '@toolyard/contract/parse-manifest'
import type { TickCall, Timing } from './schedule.ts'

export type CronVersion = { asked: Timing; call: TickCall }

/** What a version asks of the scheduler, as an older release may have stored it; undefined where it is none of ours. */
export function readVersion(stored: unknown): CronVersion | undefined {
  const parsed = parseManifest(stored)
  return 'manifest' in parsed ? toCronVersion(parsed.manifest) : undefined
}

function toCronVersion(manifest: Manifest): CronVersion | undefined {
  const { trigger, input, parameters, config_schema: settings } = manifest
  if (trigger.type !== 'cron') return undefined
  const { schedule, timezone, overlap, catch_up_seconds, jitter_seconds, pause_after = null } = trigger
  const coerced = coerceParams(parameters, {})
  const isNeeded = ([, one]: [string, Manifest['config_schema'][string]]) =>
    one.required && one.default === undefined
  return {
    asked: { schedule, timezone, overlap, catch_up_seconds, jitter_seconds, pause_after },
    call: {
      params: 'params' in coerced ? coerced.params : {},
      input,
      settings: Object.fromEntries(Object.entries(settings).filter(isNeeded)),
      fault:
        'params' in coerced
          ? null
          : `a tick gives no params: ${coerced.faults.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')}`,
      faults: 'params' in coerced ? [] : coerced.faults,
    },
  }
}
