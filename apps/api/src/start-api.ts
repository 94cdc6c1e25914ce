import { setTimeout as delay } from 'node:timers/promises'
import { startEpochWatch } from '@toolyard/access/epoch-watch'
import { createVerifier } from '@toolyard/access/verifier'
import type { apiSettings } from '@toolyard/config/apps'
import type { Pool } from '@toolyard/db/pool'
import type { SharedMetrics } from '@toolyard/log/metrics'
import { listMetrics } from '@toolyard/service/list-processes'
import type { RunningService, ServiceContext } from '@toolyard/service/run-service'
import { createApi } from './create-api.ts'
import { createUnreadRefuser } from './http/refuse-unread.ts'
import { createReadiness } from './readiness.ts'
import { listen } from './listen.ts'

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
  const api = createApi({
    pool,
    verifier,
    readiness,
    log,
    metrics,
    renderMetrics: async () => metrics.render(await othersMetrics(pool, processId)),
    bodyMaxBytes: config.bodyMaxBytes,
    trustedProxies: config.trustedProxies,
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
    parts: () => ({}),
    async drain(signal) {
      readiness.drain()
      await server.close(signal)
      await watch.close()
    },
  }
}

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
