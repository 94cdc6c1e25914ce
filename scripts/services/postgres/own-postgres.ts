import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@toolyard/service/free-port'
import { becomes } from '../machine/becomes.ts'
import { askVersion, withPool } from '../database/database.ts'
import { Failure, messageOf } from '../terminal/failure.ts'
import { whyPortIsTaken } from '../machine/taken-port.ts'
import { dataOwner, ensureCluster, refuseOtherMajor, spawnForPostgres } from './cluster.ts'
import type { PostgresRun } from './cluster.ts'
import { postgresPrograms, postgresUser } from './programs.ts'
import type { PostgresHome, PostgresRecord } from './record.ts'
import { newRecord, readRecord, writeRecord } from './record.ts'
import type { ProcessIdentity } from '../machine/process-identity.ts'
import { commandLine, endProcess, identityOf, isAlive } from '../machine/process-identity.ts'
import { tailLines } from '../logs/tail.ts'

// An embedded Postgres of this installation. It outlives the process that started it, on purpose: a supervisor that
// is killed leaves it running, and whoever comes next finds it through `postmaster.pid` and goes on with it.

export type OwnPostgres = {
  url: string
  port: number
  folder: string
  identity: ProcessIdentity
  adopted: boolean
}

const database = 'toolyard'
const startTimeoutMs = 60_000
// After a kill the old server's children hold its memory for a moment, and a new one refuses to start until they are gone.
const launchAttempts = 3
const launchPauseMs = 1_000
// Fast shutdown, then the immediate one that recovers at the next start, then the one that nothing survives.
const stopSteps = [
  { signal: 'SIGINT', graceMs: 10_000 },
  { signal: 'SIGQUIT', graceMs: 5_000 },
  { signal: 'SIGKILL', graceMs: 5_000 },
] as const

/** Starts the cluster, making it first if there is none; goes on with it if it runs already. */
export async function startPostgres(home: PostgresHome): Promise<OwnPostgres> {
  const record = readRecord(home) ?? newRecord(home)
  const data = join(record.folder, 'data')
  const running = runningPostmaster(data)
  const postgres = running === undefined ? await startStopped(home, record) : await adopt(record, running)
  await ensureDatabase(record, postgres.port)
  return postgres
}

/** Stops the cluster if it runs, whoever started it. False when there was none. */
export async function stopPostgres(
  home: PostgresHome,
  steps: Parameters<typeof endProcess>[1] = stopSteps,
): Promise<boolean> {
  const running = findPostgres(home)
  if (running === undefined) return false
  if (await endProcess(running.identity, steps)) return true
  throw new Failure(`Postgres (pid ${running.identity.pid}) does not end`)
}

/** The running cluster, if there is one, without waiting for it. */
export function findPostgres(home: PostgresHome): OwnPostgres | undefined {
  const record = readRecord(home)
  const running = record && runningPostmaster(join(record.folder, 'data'))
  return record && running && describe(record, running, true)
}

async function startStopped(home: PostgresHome, record: PostgresRecord): Promise<OwnPostgres> {
  const data = join(record.folder, 'data')
  const runAs = dataOwner(data) ?? postgresUser()
  const programs = postgresPrograms(home.installationId, runAs)
  const run = { programs, runAs, folder: record.folder, log: home.log }
  await ensureCluster(record, run)
  refuseOtherMajor(data)
  if (record.port === 0 || (await whyPortIsTaken('127.0.0.1', record.port)) !== undefined) {
    record.port = await freePort()
    writeRecord(home, record)
  }
  for (let attempt = 1; ; attempt++) {
    const started = await launch(home, record, run)
    if (started !== undefined) return started
    if (attempt === launchAttempts) {
      throw new Failure(`The embedded Postgres does not start:\n${tailLines(home.log, 10).join('\n')}`)
    }
    await delay(launchPauseMs)
  }
}

async function adopt(record: PostgresRecord, running: Postmaster): Promise<OwnPostgres> {
  const port = Number.isInteger(running.port) ? running.port : record.port
  if (await answersWithin({ ...record, port }, running.identity)) {
    return describe(record, { ...running, port }, true)
  }
  const { pid } = running.identity
  throw new Failure(
    `A Postgres of this installation runs (pid ${pid}) but does not let us in: ./yard down, then try again`,
  )
}

async function launch(
  home: PostgresHome,
  record: PostgresRecord,
  run: PostgresRun,
): Promise<OwnPostgres | undefined> {
  const data = join(record.folder, 'data')
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${hasRoomForSocket(data) ? data : ''}`,
    'max_connections=200',
    ...home.settings,
  ]
  const flags = [`port=${record.port}`, ...settings].flatMap((setting) => ['-c', setting])
  const child = spawnForPostgres('postgres', ['-D', data, ...flags], run)
  // A program that cannot be started has no exit; the waiting below ends either way, and the log says why.
  child.once('error', (error) => writeFileSync(home.log, `${messageOf(error)}\n`, { flag: 'a' }))
  child.unref()
  const identity = child.pid === undefined ? undefined : identityOf(child.pid)
  if (identity !== undefined && (await answersWithin(record, identity))) {
    return describe(record, { identity, port: record.port }, false)
  }
  if (identity !== undefined) await endProcess(identity, stopSteps)
  return undefined
}

async function answersWithin(record: PostgresRecord, identity: ProcessIdentity): Promise<boolean> {
  const answersOrDied = async () =>
    !isAlive(identity) || 'version' in (await askVersion(urlOf(record, 'postgres')))
  return (await becomes(answersOrDied, startTimeoutMs)) && isAlive(identity)
}

async function ensureDatabase(record: PostgresRecord, port: number): Promise<void> {
  await withPool(urlOf({ ...record, port }, 'postgres'), async (pool) => {
    const found = await pool.query('select 1 from pg_database where datname = $1', [database])
    if (found.rowCount === 0) await pool.query(`create database ${database}`)
  })
}

type Postmaster = { identity: ProcessIdentity; port: number }

/** The postmaster of this cluster, told from a process that inherited its pid by the folder in its command line. */
function runningPostmaster(data: string): Postmaster | undefined {
  const file = join(data, 'postmaster.pid')
  if (!existsSync(file)) return undefined
  // The second line is the folder as it was called at the start; it may have been moved since.
  const [pid, folder, , port] = readFileSync(file, 'utf8').split('\n')
  const identity = identityOf(Number(pid))
  if (identity === undefined) return undefined
  if (commandLine(identity.pid).includes(folder ?? data)) return { identity, port: Number(port) }
  // Postgres itself would take the stranger for its predecessor and refuse to start.
  rmSync(file)
  return undefined
}

function describe(record: PostgresRecord, running: Postmaster, adopted: boolean): OwnPostgres {
  const { identity, port } = running
  return { url: urlOf({ ...record, port }, database), port, folder: record.folder, identity, adopted }
}

// By its socket where it has one, which costs the machine less; whoever cannot use that has the port.
function urlOf({ password, port, folder }: PostgresRecord, name: string): string {
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/${name}`
  const data = join(folder, 'data')
  return existsSync(socketIn(data, port)) ? `${url}?host=${encodeURIComponent(data)}` : url
}

// In the folder of the data, where nobody else may look.
const socketIn = (data: string, port: number) => join(data, `.s.PGSQL.${port}`)

// Of the kernel: `sun_path` without its last zero.
const socketPathMaxBytes = 107
const hasRoomForSocket = (data: string) => Buffer.byteLength(socketIn(data, 65_535)) <= socketPathMaxBytes
