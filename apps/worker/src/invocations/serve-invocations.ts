import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Catalog, CatalogView } from '@toolyard/catalog/create-catalog'
import { createCatalog } from '@toolyard/catalog/create-catalog'
import { admitWaiting } from '@toolyard/invocations/admit-waiting'
import { createAfterCommit } from '@toolyard/invocations/after-commit'
import type { Within } from '@toolyard/invocations/close-rows'
import { createFinisher } from '@toolyard/invocations/finisher'
import { forgetWorker } from '@toolyard/invocations/forget-worker'
import { createStderrSender } from '@toolyard/invocations/stderr-sender'
import { createWatcher } from '@toolyard/invocations/watcher'
import type { Sandboxes } from '@toolyard/sandbox/sandboxes'
import { awaitOpening } from '@toolyard/service/await-opening'
import { listLiveWorkers } from '@toolyard/service/list-processes'
import type { Part, Parts } from '@toolyard/service/part'
import { readyPart } from '@toolyard/service/part'
import type { Vault } from '@toolyard/vault/open-vault'
import type { WorkerContext } from '../start-worker.ts'
import { countAttempts } from './count-attempts.ts'
import type { LeaseOptions, WorkingWorker } from './hold-leases.ts'
import { holdLeases } from './hold-leases.ts'
import type { ConsumerKeeper } from './keep-consumer.ts'
import { keepConsumer } from './keep-consumer.ts'
import { keepStock } from './keep-stock.ts'
import { createMemoryBudget, memoryForTools } from './memory-budget.ts'
import { createVersionReader } from './read-version.ts'
import type { AttemptDeps } from './run-attempt.ts'
import { runAttempt } from './run-attempt.ts'
import { createTakeJob } from './take-job.ts'

export type InvocationService = {
  parts: () => Parts
  /** Takes nothing new. What does not end in time is handed back; a tool that must not run twice is waited for longest. */
  drain: (signal: AbortSignal) => Promise<void>
}

export type InvocationServiceOptions = {
  vault: Promise<Vault>
  sandboxes: Pick<Sandboxes, 'take' | 'stock'>
  engineId: () => string | undefined
  doubtImages: () => void
  /** What else is written with an outcome: memory, deliveries. */
  within?: Within
  /** For tools that run, together: 60 % of what there is when not given. */
  memoryBytes?: number
  leaseTimes?: Pick<LeaseOptions, 'everyMs' | 'silentMs'>
}

const slotsPerCore = 8
const listingPollMs = 100
// Of the time to drain. Its last fifth is for closing what the process has open; before that, what may run elsewhere
// is handed back, and what must not run twice has a tenth more.
const handBackShare = 0.7

/** This worker's main job: it takes invocations, runs their tools, and writes what came of them. */
export function serveInvocations(
  context: WorkerContext,
  options: InvocationServiceOptions,
): InvocationService {
  const closing = new AbortController()
  const stop = AbortSignal.any([context.stop, closing.signal])
  let serving: InvocationService | undefined
  let before: Part = { state: 'starting' }
  const begin = async () => {
    await options.vault
    // What it waits for then is to be listed, and the list is where this is read.
    before = readyPart
    serving = await open(context, options, stop)
  }
  const beginning = begin().catch((error: unknown) => {
    if (stop.aborted) return
    before = { state: 'unfit', detail: 'invocations cannot be served; see the log' }
    context.log.error('invocations cannot be served', { error })
  })
  return {
    parts: () => serving?.parts() ?? { invocations: before },
    async drain(signal) {
      closing.abort()
      await beginning
      await serving?.drain(signal)
    },
  }
}

async function open(
  context: WorkerContext,
  options: InvocationServiceOptions,
  stop: AbortSignal,
): Promise<InvocationService> {
  const { queues, log, config, processId } = context
  const { engineId, within } = options
  const vault = await options.vault
  await listed(context, stop)
  // No text passes before it is known which words in it are names of tools (I7).
  const catalog = createCatalog(context.pool)
  const first = await awaitOpening(() => catalog.view(), {
    signal: stop,
    isFinal: () => false,
    onFailure: (error) => log.warn('the catalogue cannot be read yet', { error }),
  })
  const slots = config.slots ?? slotsPerCore * availableParallelism()
  const worker = () => {
    const engine = engineId()
    return engine === undefined ? undefined : { workerId: processId, engineId: engine, slots }
  }
  const support = openSupport(context, options, { worker, catalog, first })
  const { deps, leases, stock } = support
  const ending = new AbortController()
  const attempts: AttemptDeps = {
    ...support,
    vault,
    sandboxes: options.sandboxes,
    memory: createMemoryBudget(options.memoryBytes ?? memoryForTools()),
    onWaiting: (error) => log.warn('an attempt waits for the database', { error }),
    finish: createFinisher(deps, within).finish,
    ending: ending.signal,
    knownNames: () => stock.knownNames(),
    doubtImages: options.doubtImages,
    log,
  }
  // Its slots count for the limits of tools, so rows that were held may now be let in. What fails here is done by the
  // renewals and by the relay.
  await leases
    .renew()
    .then(() => admitWaiting(deps))
    .catch((error: unknown) => log.warn('this worker could not be announced', { error }))
  const consumer = keepConsumer({
    queues,
    handler: createTakeJob({
      deps,
      worker,
      run: (attempt, sinceMs) => runAttempt(attempts, attempt, sinceMs),
      log,
    }),
    slots,
    hasEngine: () => engineId() !== undefined,
    onFailure: (error) => log.warn('the queue of invocations cannot be consumed', { error }),
  })
  return {
    parts: () => ({ invocations: consumer.part(), leases: leases.part() }),
    drain: (signal) => drain(context, { support, consumer, ending }, signal),
  }
}

type Ground = { worker: () => WorkingWorker | undefined; catalog: Catalog; first: CatalogView }

/** What every attempt needs besides its sandbox. */
function openSupport(
  context: WorkerContext,
  { sandboxes, engineId, leaseTimes }: InvocationServiceOptions,
  { worker, catalog, first }: Ground,
) {
  const { pool, queues, log, metrics, config } = context
  const warn = (message: string) => (error: unknown) => log.warn(message, { error })
  const count = countAttempts(metrics)
  const readVersion = createVersionReader()
  const afterCommit = createAfterCommit({
    pool,
    queues,
    onFailure: warn('what was committed could not be told: others find it by themselves'),
  })
  const stderr = createStderrSender({ pool, onFailure: warn('live stderr cannot be sent') })
  const watcher = createWatcher({
    pool,
    channels: stderr.channels,
    databaseUrl: config.databaseUrl.reveal(),
    applicationName: 'toolyard-worker-listen',
    onError: warn('listening for cancelled invocations failed'),
  })
  const leases = holdLeases({
    pool,
    worker,
    watcher,
    onLost: (reason) => count.leaseLost(reason),
    onFailure: warn('the leases of this worker cannot be renewed'),
    ...leaseTimes,
  })
  const stock = keepStock({
    pool,
    catalog,
    first,
    sandboxes,
    engineId,
    readVersion,
    onFailure: warn('the stock that tools ask for cannot be read'),
  })
  return { deps: { pool, afterCommit }, afterCommit, count, readVersion, watcher, stderr, leases, stock }
}

type Drainable = {
  support: ReturnType<typeof openSupport>
  consumer: ConsumerKeeper
  ending: AbortController
}

async function drain(
  { pool, config, processId, log }: WorkerContext,
  { support, consumer, ending }: Drainable,
  signal: AbortSignal,
): Promise<void> {
  const { leases, stock, watcher, stderr, afterCommit } = support
  const drainMs = config.drainSeconds * 1_000
  const handBack = setTimeout(() => leases.stop('unprotected'), drainMs * handBackShare)
  const end = () => {
    leases.stop('all')
    ending.abort()
  }
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  const { abandoned } = await consumer.drain(drainMs)
  clearTimeout(handBack)
  signal.removeEventListener('abort', end)
  if (abandoned > 0) log.warn('attempts did not end: their rows are taken back by others', { abandoned })
  await Promise.all([leases.close(), stock.stop(), watcher.close(), stderr.close()])
  await forgetWorker(pool, processId).catch((error: unknown) => {
    log.warn('this worker could not take itself off the list', { error })
  })
  await afterCommit.settle()
}

/** Others remove the containers of workers that are not listed, so nothing is started before this one is. */
async function listed({ pool, processId, log }: WorkerContext, signal: AbortSignal): Promise<void> {
  for (;;) {
    const workers = await listLiveWorkers(pool).catch((error: unknown) => {
      log.warn('the list of workers cannot be read', { error })
    })
    if (workers?.has(processId) === true) return
    await delay(listingPollMs, undefined, { signal })
  }
}
