import type { Environment } from '@toolyard/config/load'
import { ConfigError } from '@toolyard/config/load'
import type { SettingName } from '@toolyard/config/settings'
import { newId } from '@toolyard/contract/ids'
import type { Pool } from '@toolyard/db/pool'
import { createPool } from '@toolyard/db/pool'
import type { Logger } from '@toolyard/log/logger'
import { createLogger } from '@toolyard/log/logger'
import type { Metrics } from '@toolyard/log/metrics'
import { createMetrics } from '@toolyard/log/metrics'
import type { Queues } from '@toolyard/queue/queues'
import { createQueues } from '@toolyard/queue/queues'
import { awaitSchema } from './await-schema.ts'
import type { ServiceKind } from './list-processes.ts'
import type { Parts } from './part.ts'
import { announcePresence } from './presence.ts'
import type { ServiceConfig } from './read-config.ts'
import { readConfig } from './read-config.ts'
import { collectGarbage, slowHeapGrowth } from './low-heap.ts'
import { stopSignal } from './stop-signal.ts'

export type ServiceContext<N extends SettingName> = {
  /** Of this process, this time: how others know it in the list of processes. */
  processId: string
  config: ServiceConfig<N>
  log: Logger
  metrics: Metrics
  pool: Pool
  queues: Queues
  /** Resolves when the database is there and fits this release. Nothing may rely on its tables before. */
  schemaFits: Promise<void>
  /** Aborts when this process is asked to end. */
  stop: AbortSignal
}

export type RunningService = {
  /** What must be there before this process says that it is ready; where it fails, the process ends. */
  opened?: Promise<unknown>
  /** What this process needs beyond the database, and how it is now. */
  parts: () => Parts
  /** Takes nothing new; ends or hands back what runs. `signal` aborts when the time for it is over. */
  drain: (signal: AbortSignal) => Promise<void>
}

export type Service<N extends SettingName> = {
  kind: ServiceKind
  settings: readonly N[]
  /** How long one of its statements may take, where somebody waits for the answer: 30 s when not given. */
  statementTimeoutMs?: number
  /** Called at once, also while the database is away. */
  start: (context: ServiceContext<N>) => Promise<RunningService>
}

// So that a server that can still answer says itself what took too long.
const answerGraceMs = 1_000
// Of the time to drain, what is kept for closing the queue and the pools.
const closingShare = 0.2

/** The life of one process, from its environment to its exit code. */
export async function runService<N extends SettingName>(
  service: Service<N>,
  environment: Environment,
): Promise<never> {
  slowHeapGrowth()
  const config = readConfigOrExit(service, environment)
  const log = createLogger({ service: service.kind, level: config.logLevel })
  exitOnSurprise(log)
  const stop = stopSignal()
  const context = openContext(service, config, log, stop)
  try {
    const running = await service.start(context)
    await serve(service, context, running, stop)
  } catch (error) {
    if (!stop.aborted) return exitWith(1, log, `${service.kind} cannot start`, error)
  }
  await context.queues.close()
  await context.pool.end()
  log.info(`${service.kind} has ended`)
  return process.exit(0)
}

async function serve<N extends SettingName>(
  { kind }: Service<N>,
  { processId, config, log, metrics, pool, schemaFits }: ServiceContext<N>,
  running: RunningService,
  stop: AbortSignal,
): Promise<void> {
  const drainMs = config.drainSeconds * 1_000
  stop.addEventListener('abort', () => {
    log.info(`${kind} is draining`, { reason: stop.reason })
    setTimeout(() => exitWith(1, log, `${kind} did not drain in ${config.drainSeconds} s`), drainMs).unref()
  })
  let presence: ReturnType<typeof announcePresence> | undefined
  try {
    await schemaFits
    await running.opened
    presence = announcePresence({
      pool,
      id: processId,
      kind,
      metrics,
      parts: () => (stop.aborted ? { ...running.parts(), [kind]: { state: 'draining' } } : running.parts()),
      onFailure: (error) => log.warn('the database does not take this process’s presence', { error }),
    })
    collectGarbage()
    log.info(`${kind} is ready`)
    process.send?.({ type: 'ready' })
    await aborted(stop)
  } finally {
    // Told at once, so that nobody counts on a process that takes nothing new; and listed until the end, so that
    // nobody takes what it still holds for the remains of a dead one.
    await Promise.all([presence?.refresh(), running.drain(AbortSignal.timeout(drainMs * (1 - closingShare)))])
    await presence?.leave()
  }
}

function openContext<N extends SettingName>(
  { kind, statementTimeoutMs }: Service<N>,
  config: ServiceConfig<N>,
  log: Logger,
  stop: AbortSignal,
): ServiceContext<N> {
  const pool = createPool({
    url: config.databaseUrl.reveal(),
    max: config.databasePoolMax,
    applicationName: `toolyard-${kind}`,
    ...(statementTimeoutMs === undefined
      ? {}
      : { statementTimeoutMs, answerTimeoutMs: statementTimeoutMs + answerGraceMs }),
    onIdleError: (error) => log.warn('a database connection broke', { error }),
  })
  const queues = createQueues({
    databaseUrl: config.databaseUrl.reveal(),
    redisUrl: config.redisUrl?.reveal(),
    redisPrefix: config.redisPrefix,
    poolMax: config.queuePoolMax,
    applicationName: `toolyard-${kind}-queue`,
    onError: (error) => log.warn('the queue reports a fault', { error }),
  })
  const schemaFits = awaitSchema(pool, stop, (error) =>
    log.warn('Waiting for the database: see that it runs and that DATABASE_URL is right', { error }),
  )
  // Whoever needs it awaits it; a service that does not must not die of a rejection that `serve` handles.
  schemaFits.catch(() => {})
  return { processId: newId(), config, log, metrics: createMetrics(kind), pool, queues, schemaFits, stop }
}

function readConfigOrExit<N extends SettingName>(
  service: Service<N>,
  environment: Environment,
): ServiceConfig<N> {
  try {
    return readConfig(service.settings, environment)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    return process.exit(1)
  }
}

/** Without this Node prints the error as it is, and what it holds may be secret. */
function exitOnSurprise(log: Logger): void {
  process.on('uncaughtException', (error) => exitWith(1, log, 'a fault that nobody caught', error))
  process.on('unhandledRejection', (error) => exitWith(1, log, 'a rejection that nobody handled', error))
}

function exitWith(code: number, log: Logger, message: string, error?: unknown): never {
  log.error(message, error === undefined ? {} : { error })
  return process.exit(code)
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
