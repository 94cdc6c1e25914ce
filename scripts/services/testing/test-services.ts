import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Pool } from '@toolyard/db/pool'
import { provideNetworkPrograms } from '../../network/provide-network-programs.ts'
import { addressOf, waitForDatabase, withPool } from '../database/database.ts'
import { chooseEngine, startEngine } from '../engine/engine.ts'
import type { Installation } from '../installation/installation.ts'
import { stopOwnEngine } from '../engine/own-engine.ts'
import { startOwnRedis, stopOwnRedis } from '../redis/own-redis.ts'
import { provideCompiler } from '../packages/provide-compiler.ts'
import { startPostgres, stopPostgres } from '../postgres/own-postgres.ts'
import { testPostgresHome } from '../postgres/home.ts'
import type { Progress } from '../terminal/progress.ts'
import { waitForRedis } from '../redis/redis.ts'
import { readLiveState } from '../supervisor/state.ts'

// The real services that tests run against: those that the environment names, else ours.

export type TestServices = { databaseUrl: string; redisUrl: string; dockerHost: string }

const externalWaitMs = 15_000

export async function startTestServices(
  installation: Installation,
  progress: Progress,
  stop: AbortSignal,
): Promise<TestServices> {
  await provideCompiler(installation, progress)
  await provideNetworkPrograms(installation, progress)
  const databaseUrl = await startTestDatabase(installation, progress, stop)
  if (installation.config.databaseUrl === undefined) await dropLeftovers(databaseUrl)
  const redisUrl = await startTestRedis(installation, progress, stop)
  const { dockerHost } = await startEngine(installation, await chooseEngine(installation, progress), progress)
  return { databaseUrl, redisUrl, dockerHost }
}

/** Stops what is ours and was started for tests; the engine only when no supervisor uses it. */
export async function stopTestServices(installation: Installation): Promise<string[]> {
  const engineIsShared = readLiveState(installation.paths.state)?.engine?.kind === 'own'
  const [postgres, redis, engine] = await Promise.all([
    stopPostgres(testPostgresHome(installation)),
    stopOwnRedis(installation),
    engineIsShared ? false : stopOwnEngine(installation),
  ])
  rmSync(join(installation.paths.test, 'redis'), { recursive: true, force: true })
  return [
    ...(postgres ? ["the tests' Postgres"] : []),
    ...(redis ? ["the tests' Redis"] : []),
    ...(engine ? ['the Docker engine'] : []),
  ]
}

export async function startTestDatabase(
  { config, ...rest }: Installation,
  progress: Progress,
  stop: AbortSignal,
): Promise<string> {
  if (config.databaseUrl !== undefined) {
    const url = config.databaseUrl.reveal()
    const title = `Waiting for the database at ${addressOf(url)}`
    await progress.step(title, () => waitForDatabase(url, externalWaitMs, stop))
    return url
  }
  return progress.step("Starting the tests' Postgres", async () => {
    const postgres = await startPostgres(testPostgresHome({ config, ...rest }))
    return postgres.url
  })
}

async function startTestRedis(
  installation: Installation,
  progress: Progress,
  stop: AbortSignal,
): Promise<string> {
  const { redisUrl } = installation.config
  if (redisUrl === undefined) {
    await stopOwnRedis(installation)
    return progress.step("Starting the tests' Redis", () => startOwnRedis(installation, progress))
  }
  const url = redisUrl.reveal()
  await progress.step(`Waiting for the Redis at ${addressOf(url)}`, () =>
    waitForRedis(url, externalWaitMs, stop),
  )
  return url
}

/** For a person: which servers the tests write to, and what earlier runs have left on one that is not ours. */
export async function describeTestServices(
  { config }: Installation,
  { databaseUrl, redisUrl, dockerHost }: TestServices,
): Promise<string> {
  const origin = (variable: string, isNamed: boolean) => (isNamed ? `named by ${variable}` : 'of our own')
  const isNamed = config.databaseUrl !== undefined
  const lines = [
    `Postgres ${addressOf(databaseUrl)} (${origin('DATABASE_URL', isNamed)})`,
    `Redis    ${addressOf(redisUrl)} (${origin('REDIS_URL', config.redisUrl !== undefined)})`,
    `Docker   ${dockerHost}`,
  ]
  // A run beside this one may be using them, and nothing says of a database how old it is: a person decides.
  const found = isNamed ? await withPool(databaseUrl, findLeftovers) : []
  const left = found.filter((name) => !name.startsWith('toolyard_template_'))
  if (left.length > 0) {
    lines.push(
      `On that Postgres are ${left.length} databases of other runs (${left[0]} …): where none is going on, drop them`,
    )
  }
  return lines.join('\n')
}

/** What runs that were killed have left; on a server of ours nobody else can be using it. */
async function dropLeftovers(url: string): Promise<void> {
  await withPool(url, async (pool) => {
    for (const name of await findLeftovers(pool)) {
      await pool.query(`alter database "${name}" is_template false`)
      await pool.query(`drop database "${name}" with (force)`)
    }
  })
}

async function findLeftovers(pool: Pool): Promise<string[]> {
  const left = await pool.query<{ name: string }>(
    `select datname as name from pg_database where datname ~ '^toolyard_(test|template|scratch)_' order by name limit 10000`,
  )
  return left.rows.map(({ name }) => name)
}
