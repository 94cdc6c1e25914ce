import type { Engine } from '@toolyard/sandbox/open-engine'
import type { Bases } from './read-bases.ts'

/** What a build is done with, whatever is built. */
export type BuildSurroundings = {
  engine: Engine
  bases: Bases
  /** The network of RUN steps; absent: the engine's own choice. See `chooseBuildNetwork`. */
  networkMode?: string
  limits: BuildLimits
  /** How long a registry has to give a base of ours its Debian. */
  registryTimeoutMs?: number
  /** Runs `work` while nobody else on this engine does what has this name; throws when it is aborted while it waits. */
  withLock: <T>(name: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>
  /** Ends it early; what is left is `fault`. */
  signal: AbortSignal
  onProgress: (line: string) => void
}

export type BuildLimits = {
  /** In all, from the base's Debian to the finished image. */
  timeoutMs: number
  /** Of an image, and of what one step of its build writes. */
  sizeMaxBytes: number
  /** Of one step. */
  memoryBytes: number
  cpus?: number
}

/** `error` is the author's to mend; `fault` is nobody's of theirs, and may be gone the next time. */
export type NotBuilt = { kind: 'error'; detail: string } | { kind: 'fault'; detail: string }
