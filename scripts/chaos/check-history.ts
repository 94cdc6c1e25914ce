import type { Run } from '../house/open-witness.ts'
import { checkAttempts } from './check-attempts.ts'
import { checkCallers } from './check-callers.ts'
import { checkLeftovers } from './check-leftovers.ts'
import { checkMemory } from './check-memory.ts'
import { checkTicks } from './check-ticks.ts'
import { checkOutcomes } from './check-outcomes.ts'
import type { AttemptHistory, CallHistory, History, RowHistory } from './history.ts'

export type Violation = {
  /** Which promise: an invariant of the design, or a word of it. */
  rule: string
  /** Of the invocation, if it is of one. */
  id?: string
  detail: string
}

/** One invocation with all that is known of it. */
export type Story = {
  row: RowHistory
  /** Undefined: its request ended without an answer. */
  call: CallHistory | undefined
  attempts: AttemptHistory[]
  runs: Run[]
}

/** Everything in a history that must not be. Pure. */
export function checkHistory(history: History): Violation[] {
  const stories = tellStories(history)
  return [
    ...checkCallers(history),
    ...stories.flatMap(checkOutcomes),
    ...stories.flatMap((story) => checkAttempts(story, history.losses)),
    ...strangers(history),
    ...checkTicks(history),
    ...checkMemory(history),
    ...checkLeftovers(history.left),
  ]
}

export function tellStories({ rows, calls, attempts, runs }: History): Story[] {
  const callOf = new Map(calls.flatMap((call) => call.accepted.map(({ id }) => [id, call] as const)))
  const attemptsOf = Map.groupBy(attempts, ({ invocation }) => invocation)
  const runsOf = Map.groupBy(runs, ({ invocation }) => invocation)
  return rows.map((row) => ({
    row,
    call: callOf.get(row.id),
    attempts: (attemptsOf.get(row.id) ?? []).toSorted((a, b) => a.attempt - b.attempt),
    runs: (runsOf.get(row.id) ?? []).toSorted((a, b) => a.startedAtMs - b.startedAtMs),
  }))
}

/** What ran without an invocation. */
function strangers({ rows, runs }: History): Violation[] {
  const known = new Set(rows.map(({ id }) => id))
  return runs
    .filter(({ invocation }) => !known.has(invocation))
    .map(({ invocation, attempt }) => ({
      rule: 'I1',
      id: invocation,
      detail: `attempt ${attempt} ran, and there is no such invocation`,
    }))
}
