import type { TakeFailure } from './outcome.ts'
import type { SandboxSpec, SweepReport } from './sandboxes.ts'
import type { Session } from './session.ts'

// What an implementation of the port brings. Stock, runs and outcomes are the same for all of them.

export type Autopsy =
  | { kind: 'dead'; code: number; isOutOfMemory: boolean }
  /** Nobody who could know answers, or it would not die. */
  | { kind: 'unknown'; detail: string }

export type Launched = {
  readonly id: string
  readonly session: Session
  /** Makes sure that it is dead and says what it died of. */
  autopsy(): Promise<Autopsy>
  /** Returns when nothing is left of it, or reports it as stuck and returns. */
  remove(): Promise<void>
}

export type LaunchFailure = Exclude<TakeFailure, { kind: 'cancelled' }>

export type Launcher = {
  /** A sandbox whose init has said hello. */
  launch(spec: SandboxSpec): Promise<{ kind: 'launched'; launched: Launched } | LaunchFailure>
  sweep(liveWorkers: ReadonlySet<string>): Promise<SweepReport>
}
