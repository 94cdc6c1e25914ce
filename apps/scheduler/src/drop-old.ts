import { pruneAudit } from '@toolyard/access/prune-audit'
import { pruneKeys } from '@toolyard/access/prune-keys'
import { pruneVersions } from '@toolyard/catalog/prune-versions'
import { prune } from '@toolyard/invocations/prune'
import type { Logger } from '@toolyard/log/logger'
import { pruneTopics } from '@toolyard/memory/prune-topics'
import { pruneSchedules } from '@toolyard/schedules/prune-schedules'
import { pruneLessons } from '@toolyard/relevance/prune-lessons'
import type { Repeated } from '@toolyard/service/repeat'
import { repeat } from '@toolyard/service/repeat'
import { pruneDeliveries } from '@toolyard/webhooks/prune-deliveries'
import type { SchedulerContext } from './start-scheduler.ts'

const everyMs = 600_000
// Their whole tables are walked: there is no index by age, which every call would have to write, or which is worth it.
const walkEveryMs = 3_600_000
const walked: ReadonlySet<string> = new Set(['topics', 'versions', 'keys'])

/** Retention: drops what is kept no longer, as the settings say, in small transactions. */
export function dropOld({ pool, config, log, schemaFits }: SchedulerContext): { stop: () => Promise<void> } {
  const works: Record<string, () => Promise<unknown>> = {
    invocations: () =>
      prune(pool, { invocationDays: config.keepInvocationsDays, rawDays: config.keepRawOutputDays }),
    deliveries: () => pruneDeliveries(pool, config.keepDeliveriesDays),
    topics: () => pruneTopics(pool, config.keepTopicsDays),
    lessons: () => pruneLessons(pool, config.keepLessonsDays),
    schedules: () =>
      pruneSchedules(pool, {
        tickDays: config.keepTicksDays,
        promptDays: config.keepPromptsDays,
        stateDays: config.keepToolStateDays,
      }),
    versions: () => pruneVersions(pool, config.keepInvocationsDays),
    audit: () => pruneAudit(pool, config.keepAuditDays),
    // As long as the audit that names them.
    keys: () => pruneKeys(pool, config.keepAuditDays),
  }
  // Each for itself: what fails of one keeps none of the others from it.
  const running = Object.entries(works).map(([what, work]) => start(what, work, { log, schemaFits }))
  return { stop: async () => void (await Promise.all(running.map((one) => one.stop()))) }
}

function start(
  what: string,
  work: () => Promise<unknown>,
  { log, schemaFits }: { log: Logger; schemaFits: Promise<void> },
): Repeated {
  return repeat({
    everyMs: walked.has(what) ? walkEveryMs : everyMs,
    async work() {
      await schemaFits
      const dropped = await work()
      if (isSome(dropped)) log.info(`dropped old ${what}`, { dropped })
    },
    onFailure: (error) => log.warn(`dropping old ${what} failed`, { error }),
  })
}

/** A count, or several of them. */
const isSome = (dropped: unknown): boolean =>
  typeof dropped === 'object' && dropped !== null ? Object.values(dropped).some(isSome) : Number(dropped) > 0
