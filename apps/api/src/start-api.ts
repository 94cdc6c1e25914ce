import { setTimeout as delay } from 'node:timers/promises'
import { createAfterCommit } from '@toolyard/invocations/after-commit'
import { createSubmitter } from '@toolyard/invocations/submitter'
import { startEpochWatch } from '@toolyard/access/epoch-watch'
import { createVerifier } from '@toolyard/access/verifier'
import { createCatalog } from '@toolyard/catalog/create-catalog'
import type { apiSettings } from '@toolyard/config/apps'
import type { Pool } from '@toolyard/db/pool'
import type { SharedMetrics } from '@toolyard/log/metrics'
import { listMetrics } from '@toolyard/service/list-processes'
import type { RunningService, ServiceContext } from '@toolyard/service/run-service'
import { guardRulesOf } from '@toolyard/webhooks/guard-rules'
import { openEvents } from './events/open-events.ts'
import { createApi } from './create-api.ts'
import { createUnreadRefuser } from './http/refuse-unread.ts'
import { openToolSearch } from './open-tool-search.ts'
import { createReadiness } from './readiness.ts'
import { listen } from './listen.ts'
import { createGaugeReader } from './ops/create-gauge-reader.ts'
import { readGauges } from './ops/read-gauges.ts'
import { writeEnds } from '@toolyard/ends/write-ends'
import { awaitVault } from '@toolyard/vault/await-vault'

const othersWaitMs = 500

type ApiContext = ServiceContext<(typeof apiSettings)[number]>

/** Listens at once, so that readyz can say what is not there yet. */
export async function startApi(context: ApiContext): Promise<RunningService> {
  const { processId, config, log, metrics, pool, queues } = context
  const watch = startEpochWatch({
    pool,
    onFailure: (error) =>
      log.warn('the access epoch cannot be read: the database decides on each key', { error }),
  })
  const verifier = createVerifier({ pool, watch, failuresPerMinute: config.authFailuresPerMinute })
  const readiness = createReadiness({ sql: pool, queues, schemaFits: watchSchema(context) })
  const vault = awaitVault({ ...context, secretKeys: config.secretKeys, dataDir: config.dataDir })
  // Told through `opened`; a request that comes before is told by itself.
  vault.catch(() => {})
  const afterCommit = createAfterCommit({
    pool,
    queues,
    onFailure: (error) => log.warn('the queue or its announcements fail: the relay repairs it', { error }),
  })
  const { watcher, events, close: closeEvents } = openEvents(pool, config.databaseUrl.reveal(), log)
  const catalog = createCatalog(pool)
  const wholeMetrics = createGaugeReader({
    read: () => readGauges({ pool, catalog, queues }),
    onFailure: (error) => log.warn('the figures of the whole cannot be read', { error }),
  })
  const toolSearch = openToolSearch({ pool, config, catalog, log, opened: vault })
  const api = createApi({
    pool,
    queues,
    watch,
    submitter: createSubmitter({ pool, afterCommit }),
    afterCommit,
    within: writeEnds(log),
    watcher,
    events,
    catalog,
    toolSearch,
    vault: () => vault,
    allowWritable: config.allowWritable,
    verifier,
    readiness,
    log,
    metrics,
    renderMetrics: async () => {
      const [others, whole] = await Promise.all([othersMetrics(pool, processId), wholeMetrics()])
      return metrics.render([...others, whole])
    },
    bodyMaxBytes: config.bodyMaxBytes,
    trustedProxies: config.trustedProxies,
    hookLimits: hookLimitsOf(config),
    keepTicksDays: config.keepTicksDays,
    webhookRules: guardRulesOf(config),
  })
  const server = await listen({
    fetch: api.fetch,
    refuseUnread: createUnreadRefuser({ log, metrics }),
    onError: (error) => log.warn('a connection could not be taken', { error }),
    host: config.host,
    port: config.port,
  })
  log.info('listening', { url: server.url })
  return {
    opened: vault,
    parts: () => ({}),
    async drain(signal) {
      readiness.drain()
      // Others would be waited for as long as their invocations take.
      events.close()
      await server.close(signal)
      await afterCommit.settle()
      await Promise.all([watch.close(), closeEvents(), toolSearch.close()])
    },
  }
}

const hookLimitsOf = (config: ApiContext['config']) => ({
  failuresPerMinute: config.authFailuresPerMinute,
  callsPerMinute: config.hookCallsPerMinute,
})

function watchSchema({ schemaFits }: ApiContext): () => boolean {
  let fits = false
  schemaFits.then(
    () => (fits = true),
    // The process ends with that error; until then it serves nothing.
    () => {},
  )
  return () => fits
}

/** What the other processes count. Without the database there is still what this one counts, and soon. */
async function othersMetrics(pool: Pool, processId: string): Promise<SharedMetrics[]> {
  const asked = listMetrics(pool, processId).catch(() => [])
  return Promise.race([asked, delay(othersWaitMs, [], { ref: false })])
}
