import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { yardSettings } from '@toolyard/config/apps'
import type { Environment } from '@toolyard/config/load'
import { loadConfig } from '@toolyard/config/load'
import type { Setting } from '@toolyard/config/setting'
import type { Config } from '@toolyard/config/settings'
import { settings } from '@toolyard/config/settings'

/** One data directory and the settings it runs under: what every command works on. */
export type Installation = {
  root: string
  dataDir: string
  toolDirs: readonly string[]
  /** Tells this installation's things on the machine (cgroups, folders in /run) from another's. */
  id: string
  config: Config<(typeof yardSettings)[number]>
  /** The real environment over `.env`: what the services inherit. Files of secrets are named by absolute paths. */
  environment: Environment
  paths: ReturnType<typeof pathsIn>
}

export const projectRoot = join(import.meta.dirname, '../../..')

/** Reads `.env` and the environment. Throws a ConfigError that lists every fault. */
export const openInstallation = (): Installation =>
  open(readEnvironment(projectRoot, process.env, process.cwd()))

/** For tests and benches, which must not meet the servers that `.env` names. */
export const openTestInstallation = (): Installation =>
  open(readTestEnvironment(projectRoot, process.env, process.cwd()))

/** The file `.env` of `root` under `given`, whose relative paths are meant from `folder`. */
export function readEnvironment(root: string, given: Environment, folder: string): Environment {
  const path = join(root, '.env')
  const file = existsSync(path) ? parseEnv(readFileSync(path, 'utf8')) : {}
  return { ...withAbsoluteFiles(file, root), ...withAbsoluteFiles(given, folder) }
}

/** As `readEnvironment`, but of `.env` only where the data is: there the services of tests are found and stopped. */
export function readTestEnvironment(root: string, given: Environment, folder: string): Environment {
  const { env } = settings.dataDir
  const { [env]: dataDir } = readEnvironment(root, {}, root)
  return { ...(dataDir !== undefined && { [env]: dataDir }), ...withAbsoluteFiles(given, folder) }
}

// The services run in another folder than the one where the command was typed.
function withAbsoluteFiles(environment: Environment, folder: string): Environment {
  const secrets = Object.values<Setting>(settings).filter(({ secret }) => secret)
  const files = secrets.flatMap(({ env }): [string, string][] => {
    const path = environment[`${env}_FILE`]
    return path === undefined || path === '' ? [] : [[`${env}_FILE`, resolve(folder, path)]]
  })
  return { ...environment, ...Object.fromEntries(files) }
}

function open(environment: Environment): Installation {
  const config = loadConfig(yardSettings, environment)
  // Relative to the project, so that the command does the same from every folder.
  const dataDir = realPathOf(resolve(projectRoot, config.dataDir))
  const id = createHash('sha256').update(dataDir).digest('hex').slice(0, 10)
  const toolDirs = config.toolDirs.map((dir) => resolve(projectRoot, dir))
  return { root: projectRoot, dataDir, toolDirs, id, config, environment, paths: pathsIn(dataDir) }
}

export function pathsIn(dataDir: string) {
  return {
    adminKey: join(dataDir, 'admin.key'),
    vaultKeys: join(dataDir, 'vault.keys'),
    logs: join(dataDir, 'logs'),
    run: join(dataDir, 'run'),
    state: join(dataDir, 'run', 'supervisor.json'),
    lock: join(dataDir, 'run', 'lock.json'),
    testLock: join(dataDir, 'run', 'test.json'),
    postgres: join(dataDir, 'postgres'),
    init: join(dataDir, 'init'),
    postgresRecord: join(dataDir, 'postgres.json'),
    engine: join(dataDir, 'engine'),
    test: join(dataDir, 'test'),
  }
}

export const logFile = (installation: Pick<Installation, 'paths'>, service: string) =>
  join(installation.paths.logs, `${service}.log`)

/** Where a person on this machine reaches the API: a wildcard is an address to listen on, not one to call. */
export function apiUrl(config: { host: string; port: number }): string {
  const host = config.host === '0.0.0.0' ? '127.0.0.1' : config.host === '::' ? '::1' : config.host
  return `http://${host.includes(':') ? `[${host}]` : host}:${config.port}`
}

// The folder itself need not exist yet; what exists of its path is resolved, so that one folder has one id.
function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : join(realPathOf(parent), path.slice(parent === '/' ? 1 : parent.length + 1))
}
