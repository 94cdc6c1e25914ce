import { setTimeout as delay } from 'node:timers/promises'
import type { Proxy } from '@toolyard/testkit/open-proxy'
import type { House } from '../house/open-house.ts'
import { becomes } from '../services/machine/becomes.ts'
import { wipeQueue } from './wipe-queue.ts'
import type { Loss } from './history.ts'
import type { PlannedFault } from './plan-run.ts'

export type Injection = {
  house: House
  databases: readonly Proxy[]
  losses: Loss[]
  badEnds: string[]
  /** What was done when, for who reads the report. */
  diary: string[]
  startedAtMs: number
}

/** Breaks what the plan says, one thing after the other, and puts each together again. */
export async function injectFaults(injection: Injection, faults: readonly PlannedFault[]): Promise<void> {
  for (const fault of faults) {
    await delay(Math.max(0, injection.startedAtMs + fault.atMs - performance.now()))
    const at = performance.now() - injection.startedAtMs
    await inject(injection, fault)
    const took = performance.now() - injection.startedAtMs - at
    injection.diary.push(`${seconds(at)} ${JSON.stringify(fault)}, mended after ${seconds(took)}`)
  }
}

async function inject(injection: Injection, fault: PlannedFault): Promise<void> {
  const { house } = injection
  switch (fault.kind) {
    case 'kill_worker':
      return killWorker(injection, fault.worker)
    case 'drain_worker':
      return drainWorker(injection, fault.worker)
    case 'pause_worker':
      return pauseWorker(injection, fault.worker, fault.lastMs)
    case 'cut_worker':
      return cutWorker(injection, fault)
    case 'kill_api':
      return replace(house.apis[fault.api])
    case 'kill_scheduler':
      return replace(house.scheduler)
    case 'restart_postgres':
      return house.restartPostgres(fault.signal)
    case 'wipe_queue':
      return wipeQueue(house)
    case 'restart_redis':
      return house.redis?.restart()
    case 'restart_engine':
      return house.restartEngine?.(fault.how)
    default:
      return unknown(fault)
  }
}

type Worker = House['workers'][number]

async function killWorker(injection: Injection, place: number): Promise<void> {
  const worker = workerAt(injection, place)
  await note(injection, worker, 'killed', async () => {
    worker.signal('SIGKILL')
    await worker.ended()
  })
  worker.start()
  await worker.ready()
}

async function drainWorker(injection: Injection, place: number): Promise<void> {
  const worker = workerAt(injection, place)
  worker.signal('SIGTERM')
  const end = await worker.ended()
  if (end.code !== 0) injection.badEnds.push(`${worker.name} drained with ${end.signal ?? end.code}`)
  worker.start()
  await worker.ready()
}

async function pauseWorker(injection: Injection, place: number, lastMs: number): Promise<void> {
  const worker = workerAt(injection, place)
  await note(injection, worker, 'paused', async () => worker.signal('SIGSTOP'))
  await delay(lastMs)
  worker.signal('SIGCONT')
}

async function cutWorker(
  injection: Injection,
  { worker: place, how, lastMs }: Extract<PlannedFault, { kind: 'cut_worker' }>,
): Promise<void> {
  const worker = workerAt(injection, place)
  const database = injection.databases[place]
  if (database === undefined) throw new Error(`nothing stands between ${worker.name} and Postgres`)
  await note(injection, worker, 'cut', async () => database[how]())
  await delay(lastMs)
  database.mend()
}

async function replace(app: House['apis'][number] | undefined): Promise<void> {
  if (app === undefined) throw new Error('the plan names an api that there is not')
  app.signal('SIGKILL')
  await app.ended()
  app.start()
  await app.ready()
}

const listedTimeoutMs = 20_000
const byPid = `
  select id from processes where kind = 'worker' and pid = $1 order by started_at desc limit 1`

/** The process's name is asked for before it is lost, and the time is taken after it is. */
async function note(
  { house, losses }: Injection,
  worker: Worker,
  kind: Loss['kind'],
  lose: () => Promise<void>,
): Promise<void> {
  const id = await processIdOf(house, worker)
  await lose()
  losses.push({ worker: id, kind, atMs: Date.now() })
}

async function processIdOf(house: House, worker: Worker): Promise<string> {
  let id: string | undefined
  const isKnown = async () => {
    // The database may be just being restarted.
    const found = await house.pool.query<{ id: string }>(byPid, [worker.pid()]).catch(() => undefined)
    id = found?.rows[0]?.id
    return id !== undefined
  }
  await becomes(isKnown, listedTimeoutMs)
  if (id === undefined) throw new Error(`${worker.name} is not on the list of processes`)
  return id
}

function workerAt({ house }: Injection, place: number): Worker {
  const worker = house.workers[place]
  if (worker === undefined) throw new Error('the plan names a worker that there is not')
  return worker
}

function unknown(fault: never): never {
  throw new Error(`nobody knows this fault: ${JSON.stringify(fault)}`)
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
