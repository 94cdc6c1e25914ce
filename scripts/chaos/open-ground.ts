import type { Proxy } from '@toolyard/testkit/open-proxy'
import { openProxy } from '@toolyard/testkit/open-proxy'
import { openEngine } from '@toolyard/sandbox/open-engine'
import type { App } from '../house/app.ts'
import type { House, QueueKind } from '../house/open-house.ts'
import { openHouse } from '../house/open-house.ts'
import type { Witness } from '../house/open-witness.ts'
import { openWitness } from '../house/open-witness.ts'
import { awaitTools } from '../house/await-tools.ts'
import { writeWitnessTools } from '../house/write-witness-tools.ts'
import { becomes } from '../services/machine/becomes.ts'
import type { Progress } from '../services/terminal/progress.ts'
import { tools } from './tools.ts'
import { isQuiet } from './is-quiet.ts'
import { turnClock } from './turn-clock.ts'

/** A house with its tools built, and whoever watches them from outside. */
export type ChaosGround = {
  house: House
  /** Between each worker and Postgres, in their order. */
  databases: readonly Proxy[]
  witness: Witness
  /** Asks every process to end; answers what was not as it should be. */
  endAll(): Promise<string[]>
  close(options: { keepLogs: boolean }): Promise<string | undefined>
}

export type ChaosGroundOptions = {
  queue: QueueKind
  apis: number
  /** Absent: an engine of its own, which can be restarted. */
  dockerHost?: string
  progress: Progress
}

const slots = 8
const sweepTimeoutMs = 60_000
const quietTimeoutMs = 120_000

export async function openChaosGround(options: ChaosGroundOptions): Promise<ChaosGround> {
  const { progress, ...where } = options
  const databases: Proxy[] = []
  const house = await openHouse({
    ...where,
    workers: 2,
    progress,
    // A process that is killed loses nothing that the kernel has; only a machine would.
    postgresSettings: ['fsync=off', 'max_connections=300'],
    async reachDatabase(databaseUrl) {
      const database = await openProxy(databaseUrl)
      databases.push(database)
      return database.url
    },
    environment: {
      YARD_WORKER_SLOTS: String(slots),
      YARD_DRAIN_SECONDS: '10',
      YARD_AUTH_FAILURES_PER_MINUTE: '10000',
    },
  })
  const witness = await openWitness()
  const close = async ({ keepLogs }: { keepLogs: boolean }) => {
    const kept = await house.close({ keepLogs })
    // By now nobody is left who has a connection to them.
    await Promise.all([witness.close(), ...databases.map((database) => database.close())])
    return kept
  }
  try {
    await writeWitnessTools(house.toolFolder, witness.port, tools)
    await progress.step('Starting its processes', () => house.start())
    await progress.step('Building its tools', () =>
      awaitTools(
        house,
        tools.map(({ name }) => name),
      ),
    )
    await turnClock(house, false)
    if (!(await becomes(() => isQuiet(house.pool), quietTimeoutMs)))
      throw new Error('what the clock began before it was stopped does not end')
    return { house, databases, witness, endAll: () => endAll(house), close }
  } catch (error) {
    const kept = await close({ keepLogs: true })
    throw new Error(`the ground for chaos could not be made; logs: ${kept}`, { cause: error })
  }
}

/** What a process that was asked to end leaves may be dead, and is gone when the next worker has begun. */
async function endAll(house: House): Promise<string[]> {
  const { apps, dockerHost, instance } = house
  const wrong = await end(apps)
  const list = (more: object = {}) =>
    openEngine(dockerHost).listContainers({ filters: { label: [`toolyard.instance=${instance}`] }, ...more })
  for (const { Id, Labels } of await list())
    wrong.push(`the container ${Id.slice(0, 12)} (${Labels['toolyard.tool']}) still runs`)
  const [next] = house.workers
  if (next === undefined) return wrong
  next.start()
  await next.ready()
  const isSwept = async () => (await list({ all: true })).length === 0
  if (!(await becomes(isSwept, sweepTimeoutMs)))
    for (const { Id, State } of await list({ all: true }))
      wrong.push(`the container ${Id.slice(0, 12)} (${State}) is not swept`)
  return [...wrong, ...(await end([next]))]
}

async function end(apps: readonly App[]): Promise<string[]> {
  for (const app of apps) app.signal('SIGTERM')
  const ends = await Promise.all(apps.map(async (app) => ({ name: app.name, ...(await app.ended()) })))
  return ends
    .filter(({ code }) => code !== 0)
    .map(({ name, code, signal }) => `${name} ended with ${signal ?? code}`)
}
