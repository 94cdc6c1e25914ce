import type { Manifest } from '@toolyard/contract/manifest'
import { memoryBytes } from '@toolyard/contract/memory-bytes'
import type { RunRequest, SandboxSpec } from '@toolyard/sandbox/sandboxes'

/** One image that was built for a tool, and what it says of itself. */
export type RunnableImage = {
  id: string
  entrypoint: readonly string[]
  volumes: readonly string[]
  user?: { uid: number; gid: number }
}

/** The sandbox that a tool asks for. What the operator allows of it is decided where it is started. */
export function toSandboxSpec(manifest: Manifest, image: RunnableImage): SandboxSpec {
  const { name, input, sandbox } = manifest
  return {
    tool: name,
    image: image.id,
    entrypoint: image.entrypoint,
    input,
    ...(image.user === undefined ? {} : { user: image.user }),
    volumes: image.volumes,
    memoryBytes: memoryBytes(sandbox.memory),
    cpus: sandbox.cpus,
    network: sandbox.network,
    writable: sandbox.writable,
    reuse: sandbox.reuse,
  }
}

const stdoutMaxBytes = 1_048_576
const stderrMaxBytes = 262_144

export type Call = {
  /** As `encodePayload` makes it. */
  payload: string
  invocation: string
  /** Counted from 1. */
  attempt: number
}

/** One run of it. The tool may tell by its environment that it was called before. */
export function toRunRequest(manifest: Manifest, { payload, invocation, attempt }: Call): RunRequest {
  return {
    payload,
    env: { TOOLYARD_INVOCATION_ID: invocation, TOOLYARD_ATTEMPT: String(attempt) },
    timeoutMs: Math.round(manifest.constraints.timeout_seconds * 1_000),
    stdoutMaxBytes,
    stderrMaxBytes,
  }
}
