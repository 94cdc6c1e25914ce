import type { Outcome, TakeFailure } from './outcome.ts'

// The port. What runs behind it (an engine's daemon today, a bare runtime tomorrow) passes the suite in contract/.

/** What a sandbox is made from. Sandboxes of equal specs can stand in for each other. */
export type SandboxSpec = {
  tool: string
  /** One exact image, the init in it: an id, never a name that may move. */
  image: string
  /** The program and its fixed arguments; the payload comes after them. */
  entrypoint: readonly string[]
  input: 'argument' | 'stdin'
  /** Absent: a user id that no other sandbox has. */
  user?: { uid: number; gid: number }
  /** Paths that the image declares for data: each becomes a small file system in memory. */
  volumes: readonly string[]
  memoryBytes: number
  cpus: number
  network: 'none' | 'bridge' | 'host'
  writable: boolean
  /** How many runs of one topic a sandbox may serve. */
  reuse: number
}

export type RunRequest = {
  payload: string
  /** The tool sees these and nothing else beyond its image's own. */
  env: Readonly<Record<string, string>>
  timeoutMs: number
  stdoutMaxBytes: number
  /** Read and thrown away beyond this; never a reason to stop. */
  stderrMaxBytes: number
  signal?: AbortSignal
  /** Hears stderr while the tool runs. */
  onStderr?: (chunk: Buffer) => void
}

export type Sandbox = {
  readonly id: string
  /** Where it came from: kept ready, kept for this topic, or started for this call. */
  readonly source: 'stock' | 'reused' | 'started'
  /** Once per `take`. Never throws for what a tool or an engine does. */
  run(request: RunRequest): Promise<Outcome>
  /** Done with it. Returns when it is dead, or kept for the same tool and topic if the spec allows reuse. */
  release(): Promise<void>
}

export type Taken = { kind: 'taken'; sandbox: Sandbox } | TakeFailure

export type SweepReport = {
  removed: string[]
  /** What could not be removed, with the reason. The next sweep tries again. */
  stuck: { id: string; detail: string }[]
}

export type Sandboxes = {
  /** From now on keeps at least `count` sandboxes of the spec ready; 0 lets demand alone decide. */
  stock(spec: SandboxSpec, count: number): void
  /** A sandbox for one call: from stock, kept for this topic, or started now. */
  take(spec: SandboxSpec, options: { topic: string; signal?: AbortSignal }): Promise<Taken>
  /** How many are ready, kept for a topic, being started, and waited for. */
  counts(): { ready: number; kept: number; launching: number; waiting: number }
  /** Removes what workers that are not alive have left, and what never started. Touches nothing of others. */
  sweep(liveWorkers: ReadonlySet<string>): Promise<SweepReport>
  /** Removes everything that is ready. Taken sandboxes are their takers' to release. */
  close(): Promise<void>
}
