import { spawn } from 'node:child_process'
import { closeSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@toolyard/service/free-port'
import { becomes } from '../machine/becomes.ts'
import { Failure } from '../terminal/failure.ts'
import type { Installation } from '../installation/installation.ts'
import { logFile } from '../installation/installation.ts'
import { readJson, writeJson } from '../installation/json-file.ts'
import { asIdentity } from '../installation/lock.ts'
import { findProgram } from '../machine/find-program.ts'
import { installPackages } from '../packages/install-packages.ts'
import type { ProcessIdentity } from '../machine/process-identity.ts'
import { endProcess, identityOf, isAlive } from '../machine/process-identity.ts'
import type { Progress } from '../terminal/progress.ts'
import { pingRedis } from './redis.ts'
import { openLogDescriptor } from '../logs/rotating-log.ts'
import { tailLines } from '../logs/tail.ts'

// A Redis for tests: on a port of its own, nothing kept. Production brings its own by REDIS_URL.

const startTimeoutMs = 10_000
const stopSteps = [
  { signal: 'SIGTERM', graceMs: 5_000 },
  { signal: 'SIGKILL', graceMs: 5_000 },
] as const

const folderOf = ({ paths }: Installation) => join(paths.test, 'redis')
const recordOf = (installation: Installation) => join(folderOf(installation), 'process.json')

export async function startOwnRedis(installation: Installation, progress: Progress): Promise<string> {
  const program = await findOrInstall(installation, progress)
  const folder = folderOf(installation)
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const log = join(installation.paths.test, 'redis.log')
  const output = openLogDescriptor(log)
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: 'no',
    'maxmemory-policy': 'noeviction',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn(program, args, { cwd: folder, detached: true, stdio: ['ignore', output, output] })
  closeSync(output)
  child.unref()
  const identity = child.pid === undefined ? undefined : identityOf(child.pid)
  if (identity !== undefined) {
    writeJson(recordOf(installation), identity)
    const url = `redis://127.0.0.1:${port}`
    if (await answersWithin(url, identity)) return url
  }
  throw new Failure(`Redis does not start:\n${tailLines(log, 8).join('\n')}`)
}

/** False when none of ours ran. */
export async function stopOwnRedis(installation: Installation): Promise<boolean> {
  const identity = readJson(recordOf(installation), asIdentity)
  if (identity === undefined || !isAlive(identity)) return false
  return endProcess(identity, stopSteps)
}

async function findOrInstall(installation: Installation, progress: Progress): Promise<string> {
  const name = 'redis-server'
  const found = findProgram(name)
  if (found !== undefined) return found
  const otherwise = 'set REDIS_URL to a Redis that tests may use'
  const log = logFile(installation, 'apt')
  await installPackages(
    { packages: [name], purpose: 'Redis, which the tests need,', otherwise, log },
    progress,
  )
  const installed = findProgram(name)
  if (installed === undefined) throw new Failure(`The package ${name} brought no ${name}: ${otherwise}`)
  return installed
}

async function answersWithin(url: string, identity: ProcessIdentity): Promise<boolean> {
  const answersOrDied = async () => !isAlive(identity) || (await pingRedis(url)) === 'PONG'
  return (await becomes(answersOrDied, startTimeoutMs)) && isAlive(identity)
}
