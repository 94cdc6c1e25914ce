import type { ContainerCreateOptions, HostConfig } from 'dockerode'
import type { SandboxSpec } from '../sandboxes.ts'

// Everything that keeps a tool inside, in one pure function. Golden-tested; each item is also checked from inside.

/** What the operator allows on this engine. */
export type SandboxPolicy = {
  /** Absent: the engine's own runtime. */
  runtime?: string
  /** The network of ours for tools that ask for one. */
  bridge?: string
  allowHostNetwork: boolean
  allowWritable: boolean
  allowRoot: boolean
}

export type SandboxLabels = { instance: string; worker: string; tool: string; image: string }

export type ContainerProfile =
  | { kind: 'profile'; body: ContainerCreateOptions }
  /** Our own refusal, in words for the tool's author. */
  | { kind: 'refused'; detail: string }

export const initPath = '/.toolyard/init'
export const labelPrefix = 'toolyard.'
export const namePrefix = 'toolyard-'

const mebibyte = 1_048_576
const temporaryBytes = 64 * mebibyte
const volumeBytes = 64 * mebibyte
const volumesMax = 16
const processesMax = 64
// gVisor's own threads, and the host process that each of the tool's needs, count too; one too many ends the sandbox.
const gvisorThreadsMax = 1_024
const openFilesMax = 1_024
const worldWritableSticky = 0o1777
// Docker says noexec unless told otherwise; many runtimes unpack and run what they carry in /tmp.
const temporaryOptions = `rw,exec,nosuid,nodev,mode=1777,size=${temporaryBytes}`

export function containerProfile(
  spec: SandboxSpec,
  policy: SandboxPolicy,
  labels: SandboxLabels,
  uniqueId: number,
): ContainerProfile {
  const user = spec.user ?? { uid: uniqueId, gid: uniqueId }
  const refusal = refuse(spec, policy, user.uid)
  if (refusal !== undefined) return { kind: 'refused', detail: refusal }
  return {
    kind: 'profile',
    body: {
      Image: spec.image,
      Entrypoint: [initPath],
      Cmd: [...spec.entrypoint],
      User: `${user.uid}:${user.gid}`,
      Env: ['HOME=/tmp'],
      Labels: {
        [`${labelPrefix}instance`]: labels.instance,
        [`${labelPrefix}worker`]: labels.worker,
        [`${labelPrefix}tool`]: labels.tool,
        [`${labelPrefix}image`]: labels.image,
      },
      Tty: false,
      OpenStdin: true,
      StdinOnce: true,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Healthcheck: { Test: ['NONE'] },
      HostConfig: hostConfig(spec, policy),
    },
  }
}

function hostConfig(spec: SandboxSpec, policy: SandboxPolicy): HostConfig {
  return {
    AutoRemove: false,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    Privileged: false,
    ReadonlyRootfs: !(spec.writable && policy.allowWritable),
    Tmpfs: { '/tmp': temporaryOptions },
    // Declared as mounts because a plain tmpfs does not keep the engine from making a volume of its own there.
    Mounts: volumePaths(spec.volumes).map((path) => ({
      Type: 'tmpfs',
      Source: '',
      Target: path,
      TmpfsOptions: { SizeBytes: volumeBytes, Mode: worldWritableSticky },
    })),
    ShmSize: temporaryBytes,
    IpcMode: 'private',
    NetworkMode: networkMode(spec, policy),
    PidsLimit: policy.runtime === 'runsc' ? gvisorThreadsMax : processesMax,
    Memory: spec.memoryBytes,
    MemorySwap: spec.memoryBytes,
    NanoCpus: Math.round(spec.cpus * 1e9),
    Ulimits: [
      { Name: 'nofile', Soft: openFilesMax, Hard: openFilesMax },
      { Name: 'core', Soft: 0, Hard: 0 },
    ],
    LogConfig: { Type: 'none', Config: {} },
    RestartPolicy: { Name: 'no' },
    ...(policy.runtime === undefined ? {} : { Runtime: policy.runtime }),
  }
}

/** The paths that become mounts: what we mount ourselves is left out. */
function volumePaths(volumes: readonly string[]): string[] {
  return volumes.filter((path) => path !== '/tmp' && path !== '/dev/shm')
}

function networkMode(spec: SandboxSpec, policy: SandboxPolicy): string {
  return spec.network === 'bridge' ? (policy.bridge ?? 'none') : spec.network
}

function refuse(spec: SandboxSpec, policy: SandboxPolicy, uid: number): string | undefined {
  if (uid === 0 && !policy.allowRoot) return 'it asks for uid 0, which this installation does not allow'
  if (spec.network === 'host' && !policy.allowHostNetwork)
    return 'it asks for the network of the host, which this installation does not allow'
  if (spec.network === 'bridge' && policy.bridge === undefined)
    return 'it asks for a network, and this engine has none of ours'
  if (spec.volumes.length > volumesMax) return `its image declares more than ${volumesMax} volumes`
  if (spec.reuse > 1 && spec.writable) return 'reuse and a writable root do not go together'
  if (spec.entrypoint.length === 0) return 'its image has no ENTRYPOINT'
  return undefined
}
