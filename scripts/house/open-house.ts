import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '@toolyard/access/create-key'
import { scopes } from '@toolyard/contract/scopes'
import type { Pool } from '@toolyard/db/pool'
import { createPool } from '@toolyard/db/pool'
import { pathsIn } from '../services/installation/installation.ts'
import type { Progress } from '../services/terminal/progress.ts'
import type { Hiring, Staff } from './hire-staff.ts'
import { hireStaff } from './hire-staff.ts'
import type { HouseDatabase } from './provide-database.ts'
import { provideDatabase } from './provide-database.ts'
import type { HouseEngine } from './provide-engine.ts'
import { provideEngine } from './provide-engine.ts'
import type { RedisServer } from './redis-server.ts'
import { openRedisServer } from './redis-server.ts'

// A whole installation that nobody else uses, in real processes, each of which can be killed, stopped and restarted:
// what chaos and the bench of the whole path run against.

export const queueKinds = ['postgres', 'redis'] as const

/** Where the queue of a house is. */
export type QueueKind = (typeof queueKinds)[number]

export type HouseOptions = Pick<Hiring, 'apis' | 'workers' | 'reachDatabase'> & {
  queue: QueueKind
  /** One of the machine's, which is never restarted; absent: one of the house's own. */
  dockerHost?: string
  postgresSettings: readonly string[]
  /** Over what the house sets. */
  environment?: Readonly<Record<string, string>>
  progress: Progress
}

export type House = HouseDatabase &
  HouseEngine &
  Staff & {
    folder: string
    /** Where workers look for tools. Fill it before `start`. */
    toolFolder: string
    instance: string
    queue: QueueKind
    redis: RedisServer | undefined
    redisPrefix: string
    pool: Pool
    token: string
    start(): Promise<void>
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
  const { apis, workers, reachDatabase } = options
  const logs = paths.logs
  const staff = await hireStaff({ apis, workers, reachDatabase, databaseUrl, environment, logs, closing })
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

async function keep(logs: string): Promise<string> {
  const kept = await mkdtemp(join(tmpdir(), 'toolyard-chaos-logs-'))
  await cp(logs, kept, { recursive: true })
  return kept
}
