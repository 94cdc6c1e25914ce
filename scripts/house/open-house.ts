import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '@toolyard/access/create-key'
import { scopes } from '@toolyard/contract/scopes'
import type { Pool } from '@toolyard/db/pool'
import { createPool } from '@toolyard/db/pool'
import { listToolImages } from '@toolyard/sandbox/list-tool-images'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { removeToolImage } from '@toolyard/sandbox/remove-tool-image'
import { repeat } from '@toolyard/service/repeat'
import { freePort } from '@toolyard/testkit/free-port'
import { pathsIn } from '../services/installation/installation.ts'
import { watchForHang } from '../services/engine/hang-watch.ts'
import { findOwnEngine, startOwnEngine, stopOwnEngine } from '../services/engine/own-engine.ts'
import { startPostgres, stopPostgres } from '../services/postgres/own-postgres.ts'
import type { PostgresHome } from '../services/postgres/record.ts'
import { migrateDatabase } from '../services/database/migrate-database.ts'
import { endProcess } from '../services/machine/process-identity.ts'
import type { Progress } from '../services/terminal/progress.ts'
import type { App } from './app.ts'
import { createApp } from './app.ts'
import type { RedisServer } from './redis-server.ts'
import { openRedisServer } from './redis-server.ts'

// A whole installation that nobody else uses, in real processes, each of which can be killed, stopped and restarted:
// what chaos and the bench of the whole path run against.

export const queueKinds = ['postgres', 'redis'] as const

/** Where the queue of a house is. */
export type QueueKind = (typeof queueKinds)[number]

export type HouseOptions = {
  queue: QueueKind
  workers: number
  apis: number
  /** One of the machine's, which is never restarted; absent: one of the house's own. */
  dockerHost?: string
  postgresSettings: readonly string[]
  /** Called for each worker, in their order, with the database's URL: the one by which that worker reaches it. */
  reachDatabase?: (databaseUrl: string) => Promise<string>
  /** Over what the house sets. */
  environment?: Readonly<Record<string, string>>
  progress: Progress
}

export type House = {
  folder: string
  /** Where workers look for tools. Fill it before `start`. */
  toolFolder: string
  instance: string
  queue: QueueKind
  databaseUrl: string
  dockerHost: string
  redis: RedisServer | undefined
  redisPrefix: string
  pool: Pool
  token: string
  urls: readonly string[]
  apis: readonly App[]
  workers: readonly App[]
  scheduler: App
  apps: readonly App[]
  start(): Promise<void>
  restartPostgres(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>
  /** Undefined: the engine is not the house's own. */
  restartEngine: ((how: 'ask' | 'kill') => Promise<void>) | undefined
  /** Ends what runs and removes everything; with `keepLogs` all but the logs, whose folder is answered. */
  close(options: { keepLogs: boolean }): Promise<string | undefined>
}

const redisPrefix = 'house'

export async function openHouse(options: HouseOptions): Promise<House> {
  const { queue, progress } = options
  const folder = await mkdtemp(join(tmpdir(), 'toolyard-house-'))
  const closing = new AsyncDisposableStack()
  try {
    return await furnish(folder, closing, options)
  } catch (error) {
    progress.note(`The house for ${queue} could not be opened`)
    await closing.disposeAsync()
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function furnish(folder: string, closing: AsyncDisposableStack, options: HouseOptions): Promise<House> {
  const { queue } = options
  await chmod(folder, 0o711)
  const paths = pathsIn(folder)
  const toolFolder = join(folder, 'tools')
  await Promise.all([mkdir(paths.logs), mkdir(toolFolder)])
  const instance = randomBytes(5).toString('hex')
  const database = await provideDatabase({ instance, paths }, closing, options)
  const { databaseUrl } = database
  const redis = queue === 'redis' ? await openRedisServer(join(folder, 'redis')) : undefined
  if (redis !== undefined) closing.defer(() => redis.close())
  const engine = await provideEngine({ id: instance, paths }, closing, options)
  const { dockerHost } = engine
  const pool = createPool({
    url: databaseUrl,
    max: 4,
    applicationName: 'toolyard-house',
    onIdleError: () => {},
  })
  closing.defer(() => pool.end())
  const body = { name: 'house', scopes: [...scopes] }
  const { token } = await createKey(pool, { actor: { kind: 'operator' } }, body)
  const environment = {
    ...inherited(),
    DOCKER_HOST: dockerHost,
    YARD_DATA_DIR: folder,
    YARD_INSTANCE: instance,
    YARD_TOOL_DIRS: toolFolder,
    YARD_REDIS_PREFIX: redisPrefix,
    YARD_ALLOW_HOST_NETWORK: 'yes',
    ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
    ...options.environment,
  }
  const staff = await hire({ options, databaseUrl, environment, logs: paths.logs, closing })
  return {
    folder,
    toolFolder,
    instance,
    queue,
    redis,
    redisPrefix,
    pool,
    token,
    ...database,
    ...engine,
    ...staff,
    async start() {
      for (const app of staff.apps) app.start()
      await Promise.all(staff.apps.map((app) => app.ready()))
    },
    async close({ keepLogs }) {
      await closing.disposeAsync()
      const kept = keepLogs ? await keep(paths.logs) : undefined
      await rm(folder, { recursive: true, force: true })
      return kept
    },
  }
}

type Paths = ReturnType<typeof pathsIn>

async function provideDatabase(
  { instance, paths }: { instance: string; paths: Paths },
  closing: AsyncDisposableStack,
  { postgresSettings, progress }: HouseOptions,
): Promise<Pick<House, 'databaseUrl' | 'restartPostgres'>> {
  const home: PostgresHome = {
    installationId: instance,
    name: 'postgres',
    folder: paths.postgres,
    record: paths.postgresRecord,
    log: join(paths.logs, 'postgres.log'),
    settings: postgresSettings,
  }
  closing.defer(async () => void (await stopPostgres(home)))
  const { url } = await progress.step('Starting a Postgres for it', () => startPostgres(home))
  await migrateDatabase(url, progress)
  return {
    databaseUrl: url,
    async restartPostgres(signal) {
      await stopPostgres(home, [
        { signal, graceMs: 15_000 },
        { signal: 'SIGKILL', graceMs: 5_000 },
      ])
      const again = await startPostgres(home)
      if (again.url !== url) throw new Error('Postgres came back at another address')
    },
  }
}

async function provideEngine(
  place: { id: string; paths: Paths },
  closing: AsyncDisposableStack,
  { dockerHost: given, progress }: HouseOptions,
): Promise<Pick<House, 'dockerHost' | 'restartEngine'>> {
  if (given !== undefined) {
    closing.defer(() => clear(given, place.id))
    return { dockerHost: given, restartEngine: undefined }
  }
  closing.defer(async () => void (await stopOwnEngine(place)))
  const { dockerHost } = await progress.step('Starting a Docker engine for it', () => startOwnEngine(place))
  // As a supervisor does, which a house has none of.
  const hang = watchForHang(dockerHost)
  let isRestarting = false
  const minding = repeat({
    everyMs: mindEveryMs,
    async work() {
      if (isRestarting) return
      hang.look(performance.now())
      if (!hang.isHung()) return
      progress.note('The Docker engine hangs, and is started again')
      await startOwnEngine(place)
      hang.forget()
    },
    onFailure: () => {},
  })
  closing.defer(() => minding.stop())
  return {
    dockerHost,
    async restartEngine(how) {
      isRestarting = true
      const engine = how === 'kill' ? await findOwnEngine(place) : undefined
      if (engine === undefined) await stopOwnEngine(place)
      else await endProcess(engine.process, [{ signal: 'SIGKILL', graceMs: 5_000 }])
      await startOwnEngine(place)
      hang.forget()
      isRestarting = false
    },
  }
}

const mindEveryMs = 1_000

type Hiring = {
  options: HouseOptions
  databaseUrl: string
  environment: Readonly<Record<string, string>>
  logs: string
  closing: AsyncDisposableStack
}

async function hire({ options, databaseUrl, environment, logs, closing }: Hiring) {
  const ports = await Promise.all(Array.from({ length: options.apis }, () => freePort()))
  const apis = ports.map((port, index) =>
    createApp({
      kind: 'api',
      name: `api-${index}`,
      logs,
      environment: { ...environment, DATABASE_URL: databaseUrl, YARD_PORT: String(port) },
    }),
  )
  const workers: App[] = []
  for (let index = 0; index < options.workers; index++) {
    const url = (await options.reachDatabase?.(databaseUrl)) ?? databaseUrl
    const own = { ...environment, DATABASE_URL: url }
    workers.push(createApp({ kind: 'worker', name: `worker-${index}`, logs, environment: own }))
  }
  const scheduler = createApp({
    kind: 'scheduler',
    name: 'scheduler',
    logs,
    environment: { ...environment, DATABASE_URL: databaseUrl },
  })
  const apps: readonly App[] = [...apis, ...workers, scheduler]
  closing.defer(async () => {
    const left = apps.filter((app) => app.isRunning())
    for (const app of left) app.signal('SIGKILL')
    await Promise.all(left.map((app) => app.ended()))
  })
  return { apis, workers, scheduler, apps, urls: ports.map((port) => `http://127.0.0.1:${port}`) }
}

/** What programs need of this process's environment, and none of its settings. */
function inherited(): Record<string, string> {
  const names = ['PATH', 'HOME', 'LANG', 'TMPDIR']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** What this house has left on an engine that is not its own. */
async function clear(dockerHost: string, instance: string): Promise<void> {
  const engine = openEngine(dockerHost)
  const filters = { label: [`toolyard.instance=${instance}`] }
  for (const { Id } of await engine.listContainers({ all: true, filters }))
    await engine.getContainer(Id).remove({ force: true, v: true })
  for (const { id } of await listToolImages(engine, instance)) await removeToolImage(engine, { id, instance })
}

async function keep(logs: string): Promise<string> {
  const kept = await mkdtemp(join(tmpdir(), 'toolyard-chaos-logs-'))
  await cp(logs, kept, { recursive: true })
  return kept
}
