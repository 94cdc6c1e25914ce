import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { clearEngine, probeEngine } from '@toolyard/sandbox/engine'
import { takeDownEngineNetworks } from '../../network/take-down-network.ts'
import { becomes } from '../machine/becomes.ts'
import { enginePrograms, killEngineProcesses, removeEngineDebris } from './debris.ts'
import type { EnginePaths, EnginePlace } from './paths.ts'
import { enginePaths } from './paths.ts'
import { Failure } from '../terminal/failure.ts'
import { logFile } from '../installation/installation.ts'
import { findProgram, systemPath } from '../machine/find-program.ts'
import type { ProcessIdentity } from '../machine/process-identity.ts'
import { endProcess, identityOf } from '../machine/process-identity.ts'
import { openLogDescriptor } from '../logs/rotating-log.ts'
import { tailLines } from '../logs/tail.ts'

// A Docker engine of this installation, for a machine where none answers: dockerd and its containerd, with everything
// they keep in the data directory. It changes no rule of the host; those of the network for tools are scripts/network's.
// Like the embedded Postgres it outlives a killed supervisor and is found again, through the configuration file that its
// command line names.

export type OwnEngine = { dockerHost: string; process: ProcessIdentity }

// On a machine with more work than cores an engine that cleans up after itself took 30 s.
const startTimeoutMs = 60_000
// Its containers are gone by then, so the engine itself ends at once.
const stopSteps = [
  { signal: 'SIGTERM', graceMs: 20_000 },
  { signal: 'SIGKILL', graceMs: 5_000 },
] as const
// An engine that hangs would never hear anything else.
const killSteps = [{ signal: 'SIGKILL', graceMs: 5_000 }] as const
const tidyTimeoutMs = 30_000

/** The engine of ours that answers now, if there is one. */
export async function findOwnEngine(installation: EnginePlace): Promise<OwnEngine | undefined> {
  const paths = enginePaths(installation)
  const { dockerd } = enginePrograms(paths)
  if (dockerd === undefined) return undefined
  const dockerHost = `unix://${paths.socket}`
  const answer = await probeEngine(dockerHost)
  return answer.state === 'ready' ? { dockerHost, process: dockerd } : undefined
}

export async function startOwnEngine(installation: EnginePlace): Promise<OwnEngine> {
  const paths = enginePaths(installation)
  const running = await findOwnEngine(installation)
  if (running !== undefined) return running
  const [dockerd, containerd] = [findProgram('dockerd'), findProgram('containerd')]
  if (dockerd === undefined || containerd === undefined)
    throw new Failure('dockerd or containerd is not installed')
  // What is left of an engine that was killed would keep a new one from starting.
  await stopOwnEngine(installation)
  mkdirSync(paths.run, { recursive: true, mode: 0o700 })
  mkdirSync(paths.folder, { recursive: true, mode: 0o700 })
  writeFileSync(paths.containerdConfig, containerdConfig(paths), { mode: 0o600 })
  writeFileSync(paths.daemonConfig, daemonConfig(paths, findProgram('runsc')), { mode: 0o600 })
  const log = logFile(installation, 'engine')
  start(containerd, paths.containerdConfig, log)
  // dockerd waits for its containerd by itself, but wants the socket to be there.
  if (await becomes(() => existsSync(paths.containerdSocket), startTimeoutMs)) {
    const identity = start(dockerd, paths.daemonConfig, log)
    const dockerHost = `unix://${paths.socket}`
    const isReady = async () => existsSync(paths.socket) && (await probeEngine(dockerHost)).state === 'ready'
    if (identity !== undefined && (await becomes(isReady, startTimeoutMs)))
      return { dockerHost, process: identity }
  }
  await stopOwnEngine(installation)
  throw new Failure(
    `The Docker engine does not start (whole log: ${log}); set DOCKER_HOST to use another one:\n${tailLines(log, 8).join('\n')}`,
  )
}

/** Ends the engine and leaves no container, process, mount, socket, cgroup or folder in /run. False: nothing ran. */
export async function stopOwnEngine(installation: EnginePlace): Promise<boolean> {
  const paths = enginePaths(installation)
  const { dockerd, containerd, shims } = enginePrograms(paths)
  if (dockerd !== undefined) {
    const isTidy = await tidy(`unix://${paths.socket}`)
    await endProcess(dockerd, isTidy ? stopSteps : killSteps)
  }
  if (containerd !== undefined) await endProcess(containerd, stopSteps)
  await killEngineProcesses(paths)
  await removeEngineDebris(paths)
  return dockerd !== undefined || containerd !== undefined || shims.length > 0
}

/**
 * A container may take ten seconds to ignore the engine's polite request; none of them is worth it. False: the engine
 * answers no more, and what it has left is cleaned up after without it.
 */
async function tidy(dockerHost: string): Promise<boolean> {
  if ((await probeEngine(dockerHost)).state !== 'ready') return false
  const tidying = clearEngine(dockerHost)
    .then(() => takeDownEngineNetworks(dockerHost))
    .then(() => true)
  const giveUp = new AbortController()
  const late = delay(tidyTimeoutMs, false, { signal: giveUp.signal }).catch(() => false)
  try {
    return await Promise.race([tidying, late])
  } catch {
    return false
  } finally {
    giveUp.abort()
    // It may still fail later, when nobody waits for it any more.
    tidying.catch(() => {})
  }
}

function start(program: string, config: string, log: string): ProcessIdentity | undefined {
  const output = openLogDescriptor(log)
  const flag = program.endsWith('containerd') ? '--config' : '--config-file'
  const child = spawn(program, [flag, config], {
    env: engineEnvironment(),
    detached: true,
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  child.once('error', () => {})
  child.unref()
  return child.pid === undefined ? undefined : identityOf(child.pid)
}

// Images are pulled through the machine's proxy; of the rest, which may hold secrets, the engine needs nothing.
function engineEnvironment(): NodeJS.ProcessEnv {
  const proxies = Object.entries(process.env).filter(([name]) => /^(https?|no)_proxy$/i.test(name))
  return { ...Object.fromEntries(proxies), PATH: systemPath }
}

function daemonConfig(paths: EnginePaths, runsc: string | undefined): string {
  const config = {
    'data-root': paths.dockerData,
    'exec-root': paths.exec,
    pidfile: join(paths.run, 'docker.pid'),
    hosts: [`unix://${paths.socket}`],
    containerd: paths.containerdSocket,
    bridge: 'none',
    iptables: false,
    ip6tables: false,
    // Switched on with the network for tools, and given back with it.
    'ip-forward': false,
    // One cgroup of our own, on every kind of host, so that it can be removed.
    'exec-opts': ['native.cgroupdriver=cgroupfs'],
    'cgroup-parent': paths.cgroup,
    ...(runsc === undefined
      ? {}
      : { runtimes: { runsc: { path: runsc, runtimeArgs: ['--platform=ptrace', '--network=none'] } } }),
  }
  return `${JSON.stringify(config, null, 2)}\n`
}

// Always one of our own: dockerd would join the machine's containerd where there is one, and leave its state there.
function containerdConfig(paths: EnginePaths): string {
  const quoted = (path: string) => JSON.stringify(path)
  return `version = 2
root = ${quoted(paths.containerdData)}
state = ${quoted(join(paths.run, 'containerd'))}
disabled_plugins = ["io.containerd.grpc.v1.cri"]

[grpc]
address = ${quoted(paths.containerdSocket)}

[ttrpc]
address = ${quoted(`${paths.containerdSocket}.ttrpc`)}
`
}
