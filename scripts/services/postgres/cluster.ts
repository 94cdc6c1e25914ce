import { spawn } from 'node:child_process'
import type { ChildProcess, StdioOptions } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '../terminal/failure.ts'
import type { RunAs } from './programs.ts'
import { isRoot } from '../machine/is-root.ts'
import { makePassable } from './programs.ts'
import type { PostgresRecord } from './record.ts'
import { openLogDescriptor } from '../logs/rotating-log.ts'
import { tailLines } from '../logs/tail.ts'

const major = '18'

/** Which programs work on which folder, as whom. */
export type PostgresRun = { programs: string; runAs: RunAs | undefined; folder: string; log: string }

export function dataOwner(data: string): RunAs | undefined {
  const owner = statSync(data, { throwIfNoEntry: false })
  if (owner === undefined) return undefined
  if (isRoot()) return owner.uid === 0 ? undefined : { uid: owner.uid, gid: owner.gid }
  if (owner.uid === process.getuid?.()) return undefined
  throw new Failure(
    `The database in ${data} belongs to another user (uid ${owner.uid}): run ./yard as that user or as root`,
  )
}

// Made under another name and renamed when it is whole: a start that was killed leaves nothing that looks done.
export async function ensureCluster(record: PostgresRecord, run: PostgresRun): Promise<void> {
  const { folder, runAs } = run
  const data = join(folder, 'data')
  makePassable(dirname(folder))
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o700)
  if (runAs !== undefined) chownSync(folder, runAs.uid, runAs.gid)
  const halfMade = readdirSync(folder).filter((name) => name.startsWith('new-'))
  for (const name of halfMade) rmSync(join(folder, name), { recursive: true })
  if (existsSync(data)) return
  const draft = join(folder, `new-${process.pid}`)
  const passwordFile = `${draft}.password`
  writeFileSync(passwordFile, record.password, { mode: 0o600 })
  if (runAs !== undefined) chownSync(passwordFile, runAs.uid, runAs.gid)
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  const code = await exitOf(spawnForPostgres('initdb', [`--pgdata=${draft}`, ...locale, ...access], run))
  rmSync(passwordFile)
  if (code !== 0) {
    rmSync(draft, { recursive: true, force: true })
    throw new Failure(`The embedded Postgres could not be set up:\n${tailLines(run.log, 10).join('\n')}`)
  }
  renameSync(draft, data)
}

export function refuseOtherMajor(data: string): void {
  const version = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim()
  if (version === major) return
  throw new Failure(
    `The data in ${data} is of Postgres ${version}, this release runs ${major}: dump it with a Postgres ${version} and restore it, or set DATABASE_URL`,
  )
}

// Detached: a Ctrl-C on the terminal is for the supervisor, which stops the database last.
export function spawnForPostgres(
  program: 'initdb' | 'postgres',
  args: string[],
  run: PostgresRun,
): ChildProcess {
  const log = openLogDescriptor(run.log)
  // Nothing of our environment: it may hold secrets, and locale or PG* variables that change what the server does.
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }
  const stdio: StdioOptions = ['ignore', log, log]
  const child = spawn(join(run.programs, program), args, {
    cwd: run.folder,
    env,
    detached: true,
    stdio,
    ...run.runAs,
  })
  closeSync(log)
  return child
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
}
