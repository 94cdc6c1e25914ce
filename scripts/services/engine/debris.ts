import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync, rmdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { EnginePaths } from './paths.ts'
import { becomes } from '../machine/becomes.ts'
import { codeOf } from '../terminal/failure.ts'
import { findProgram } from '../machine/find-program.ts'
import type { ProcessIdentity } from '../machine/process-identity.ts'
import { commandLine, hasEnded, identityOf, sendSignal } from '../machine/process-identity.ts'

// What an engine that was killed leaves on the machine: processes, mounts, cgroups, sockets. All of it is found by the
// paths of this installation, so nothing of another engine is touched.

export type EnginePrograms = {
  dockerd: ProcessIdentity | undefined
  containerd: ProcessIdentity | undefined
  shims: ProcessIdentity[]
}

const cgroupRoot = '/sys/fs/cgroup'
const killGraceMs = 5_000
const removalTimeoutMs = 5_000
// Made by every engine of the machine, whatever its own paths are; left to them while another one runs.
const sharedRunFolders = ['/run/containerd/s', '/run/containerd', '/run/docker/plugins', '/run/docker']

export function enginePrograms(paths: EnginePaths): EnginePrograms {
  const found: EnginePrograms = { dockerd: undefined, containerd: undefined, shims: [] }
  for (const pid of processIds()) {
    const [program = '', ...args] = commandLine(pid)
    const name = basename(program)
    const identity = name === 'dockerd' || name.startsWith('containerd') ? identityOf(pid) : undefined
    if (identity === undefined) continue
    if (name === 'dockerd' && args.includes(paths.daemonConfig)) found.dockerd = identity
    if (name === 'containerd' && args.includes(paths.containerdConfig)) found.containerd = identity
    if (name.startsWith('containerd-shim') && args.includes(paths.containerdSocket))
      found.shims.push(identity)
  }
  return found
}

/** Containers first, told by their cgroup; then the shims that held them. */
export async function killEngineProcesses(paths: EnginePaths): Promise<void> {
  const inContainers = cgroupFolders(paths.cgroup).flatMap(processesOf)
  const doomed = [...inContainers, ...enginePrograms(paths).shims]
  for (const target of doomed) sendSignal(target, 'SIGKILL')
  for (const target of doomed) await hasEnded(target, killGraceMs)
}

export async function removeEngineDebris(paths: EnginePaths): Promise<void> {
  for (const folder of cgroupFolders(paths.cgroup).toReversed()) removeEmpty(folder)
  for (const socket of shimSockets(paths.run)) rmSync(socket, { force: true })
  // A helper that a killed dockerd had just started mounts what it was to mount after we have looked.
  let fault: unknown
  const isGone = () => {
    try {
      unmountAll(paths)
      rmSync(paths.run, { recursive: true, force: true })
      return true
    } catch (error) {
      fault = error
      return false
    }
  }
  if (!(await becomes(isGone, removalTimeoutMs))) throw fault
  if (!isAnyEngineRunning()) for (const folder of sharedRunFolders) removeEmpty(folder)
}

/** The deepest mounts first; lazily, because a file that is still open must not keep one there. */
function unmountAll(paths: EnginePaths): void {
  const umount = findProgram('umount') ?? 'umount'
  for (const mount of engineMounts(paths).toReversed())
    execFileSync(umount, ['-nl', mount], { stdio: 'ignore' })
}

/** Parents before children, over every hierarchy of cgroup v1, or the one of v2. */
function cgroupFolders(cgroup: string): string[] {
  if (!existsSync(cgroupRoot)) return []
  const roots = [cgroupRoot, ...readdirSync(cgroupRoot).map((name) => join(cgroupRoot, name))]
  return roots.map((root) => join(root, cgroup)).flatMap(withSubfolders)
}

function withSubfolders(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = unlessGone(() => readdirSync(folder, { withFileTypes: true }), [])
  const inner = entries.filter((entry) => entry.isDirectory())
  return [folder, ...inner.flatMap((entry) => withSubfolders(join(folder, entry.name)))]
}

function processesOf(folder: string): ProcessIdentity[] {
  const text = unlessGone(() => readFileSync(join(folder, 'cgroup.procs'), 'utf8'), '')
  const pids = text.split('\n').filter(Boolean)
  return pids.flatMap((pid) => identityOf(Number(pid)) ?? [])
}

/** What was listed may be gone when it is looked at: containers end meanwhile, and their cgroups and bundles with them. */
function unlessGone<T>(read: () => T, gone: T): T {
  try {
    return read()
  } catch (error) {
    if (['ENOENT', 'ENODEV'].includes(codeOf(error) ?? '')) return gone
    throw error
  }
}

/** A disk that the operator put under the engine's folder stays: only what the daemons mount is listed. */
function engineMounts(paths: EnginePaths): string[] {
  const roots = [paths.dockerData, paths.containerdData, paths.run]
  // dockerd notes there that it mounted its own folder onto itself, which it does where mounts are not shared.
  const mountsItself = existsSync(join(paths.exec, 'unmount-on-shutdown'))
  return mountPoints().filter(
    (mount) =>
      roots.some((root) => mount.startsWith(`${root}/`)) || (mountsItself && mount === paths.dockerData),
  )
}

export function mountPoints(): string[] {
  const unescape = (path: string) =>
    path.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)))
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => unescape(line.split(' ')[4] ?? ''))
}

/** A shim that is killed leaves its socket in a folder that all engines share; its address stands in its bundle. */
function shimSockets(run: string): string[] {
  const tasks = join(run, 'containerd', 'io.containerd.runtime.v2.task')
  if (!existsSync(tasks)) return []
  const entries = unlessGone(() => readdirSync(tasks, { recursive: true, encoding: 'utf8' }), [])
  const files = entries.filter((path) => basename(path) === 'address')
  const addresses = files.map((path) => unlessGone(() => readFileSync(join(tasks, path), 'utf8'), '').trim())
  return addresses
    .filter((address) => address.startsWith('unix://'))
    .map((address) => address.slice('unix://'.length))
}

const isAnyEngineRunning = () =>
  processIds().some((pid) => /^(dockerd|containerd)/.test(basename(commandLine(pid)[0] ?? '')))

const processIds = () =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch (error) {
    // A cgroup is busy while its last process is being buried, a folder in /run while somebody else uses it.
    if (!['ENOENT', 'ENOTEMPTY', 'EBUSY', 'EEXIST', 'EACCES', 'EPERM'].includes(codeOf(error) ?? ''))
      throw error
  }
}
