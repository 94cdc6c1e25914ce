import type { Run } from '../house/open-witness.ts'
import type { PlannedCall } from './plan-run.ts'

// What is known of a run when it is over: what callers were told, what stands in the database, what was seen of the
// tools from outside, and what was done to the processes. All times are of one machine's clock.

/** What a caller was told of an invocation, each time. */
export type Told = { id: string; status: string }

export type CallHistory = {
  plan: PlannedCall
  /** An answer for every request that got one: the first and its repeats. */
  accepted: Told[]
  /** Requests that ended without an answer, so that nobody knows whether they were accepted. */
  unanswered: number
  /** Refused for good, which nothing here should be. */
  refused: string[]
  seen: Told[]
  /** What the wish to cancel was answered. */
  cancelled: number | undefined
}

export type RowHistory = {
  id: string
  tool: string
  topic: string
  status: string
  gate: string
  rerun: boolean
  attempts: number
  dueAtMs: number
  finishedAtMs: number | null
  reward: number | null
  outcomes: number
  resultText: string | null
  failureKind: string | null
  failureClass: string | null
  failureMessage: string | null
}

export type AttemptHistory = {
  invocation: string
  attempt: number
  worker: string
  claimedAtMs: number
  handedOverAtMs: number | null
  endedAtMs: number | null
  endReason: string | null
}

/** `topic` null: of the tool as a whole. */
export type MemoryHistory = {
  tool: string
  topic: string | null
  attempts: number
  successes: number
  rewardSum: number
}

/** A worker that could not go on: the promise is about what it held. */
export type Loss = { worker: string; kind: 'killed' | 'paused' | 'cut'; atMs: number }

/** A tick of the clock that ran beside the calls. */
export type TickHistory = {
  atMs: number
  fate: string
  invocation: string | null
  /** Final, of its invocation. */
  status: string | null
  attempts: number | null
}

export type Leftovers = {
  /** Of workers that are not any more. */
  containers: string[]
  jobs: { waiting: number; active: number; delayed: number }
  /** Processes that were asked to end, and did not by themselves or with another code than 0. */
  badEnds: string[]
}

export type History = {
  calls: CallHistory[]
  rows: RowHistory[]
  attempts: AttemptHistory[]
  runs: Run[]
  /** Whether there was a clock to ring. */
  isRinging: boolean
  ticks: TickHistory[]
  /** What was seen of the runs of ticks. */
  tickRuns: Run[]
  /** As it is stored; that of a tool as a whole is of every invocation there ever was. */
  memory: MemoryHistory[]
  /** As it must be, worked out from how the invocations ended. */
  counted: MemoryHistory[]
  losses: Loss[]
  left: Leftovers
}
