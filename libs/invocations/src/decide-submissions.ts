import { priorityDefault } from '@toolyard/contract/call-limits'
import { queuedMax, queuedPerToolMax } from './limits.ts'
import type { Budget } from './read-budgets.ts'
import type { Submission, SubmitRefusal } from './submission.ts'

/** What the database says of a tool, read under the tool's lock. */
export type ToolFacts = {
  name: string
  enabled: boolean
  removed: boolean
  /** Of the version that serves, or of the one that is to serve first. */
  hash: string | null
  version: string | null
  /** Nothing serves, and no engine could build what shall. */
  image_failed: boolean
  tools_enabled: boolean
  /** Null: it may spend what it wants. */
  cost_budget: number | null
  free: number
  has_held: boolean
}

/** How much waits already, about. */
export type Depth = { ofTool: (tool: string) => number; total: () => number }

export type Gate = 'delayed' | 'held' | 'open'

type DeciderFacts = {
  facts: ReadonlyMap<string, ToolFacts>
  /** Of the tools that have one. */
  budgets: ReadonlyMap<string, Budget>
  depth: Depth
}

/** Counts as it goes, so that one batch cannot pass a limit either. */
export function createDecider({ facts, budgets, depth }: DeciderFacts) {
  const accepted = new Map<string, number>()
  let acceptedInAll = 0

  function refusalOf({ tool, checkedHash }: Submission): SubmitRefusal | undefined {
    const known = facts.get(tool)
    if (known === undefined || known.removed || known.hash === null) return { code: 'unknown_tool' }
    if (!known.tools_enabled) return { code: 'tools_disabled' }
    if (!known.enabled) return { code: 'tool_disabled' }
    if (known.image_failed) return { code: 'image_failed' }
    if (checkedHash !== undefined && checkedHash !== known.hash) return { code: 'tool_changed' }
    const acceptedNow = accepted.get(tool) ?? 0
    const exhausted = budgetRefusal(tool, budgets.get(tool), acceptedNow)
    if (exhausted !== undefined) return exhausted
    if (depth.ofTool(tool) + acceptedNow >= queuedPerToolMax)
      return queueFull(`${queuedPerToolMax} calls of this tool wait already`)
    if (depth.total() + acceptedInAll >= queuedMax) return queueFull(`${queuedMax} calls wait already`)
    return undefined
  }

  return (submission: Submission): SubmitRefusal | undefined => {
    const refusal = refusalOf(submission)
    if (refusal !== undefined) return refusal
    accepted.set(submission.tool, (accepted.get(submission.tool) ?? 0) + 1)
    acceptedInAll += 1
    return undefined
  }
}

const queueFull = (message: string): SubmitRefusal => ({
  code: 'queue_full',
  message,
  retryAfterSeconds: 5,
})

/** Each call that has not ended counts as 1, so that no burst passes the limit before the first of it is paid for. */
function budgetRefusal(
  tool: string,
  budget: Budget | undefined,
  acceptedNow: number,
): SubmitRefusal | undefined {
  if (budget === undefined) return undefined
  const { limit, spent, resetsAt, resetsInSeconds } = budget
  const promised = budget.inFlight === null ? 0 : budget.inFlight + acceptedNow
  if (spent + promised < limit) return undefined
  const underWay = promised === 0 ? '' : `, and ${promised} more are promised to calls that have not ended`
  return {
    code: 'budget_exhausted',
    message: `${tool} has spent ${spent} of ${limit} today${underWay}; the budget is fresh at ${resetsAt.toISOString()}`,
    retryAfterSeconds: resetsInSeconds,
  }
}

type Candidate = { id: string; submission: Submission }

/**
 * Which gate each of these rows gets. A delayed row takes no slot yet. Where rows are held already nobody passes them:
 * the new ones are held too, and whoever is next is then admitted from all of them.
 */
export function chooseGates(
  facts: ReadonlyMap<string, ToolFacts>,
  candidates: readonly Candidate[],
): Map<string, Gate> {
  const gates = new Map<string, Gate>()
  const used = new Map<string, number>()
  for (const { id, submission } of candidates.toSorted(inTurn)) {
    const { tool, delayMs = 0 } = submission
    const known = facts.get(tool)
    const taken = used.get(tool) ?? 0
    const isFree = known !== undefined && !known.has_held && taken < known.free
    const gate = delayMs > 0 ? 'delayed' : isFree ? 'open' : 'held'
    if (gate === 'open') used.set(tool, taken + 1)
    gates.set(id, gate)
  }
  return gates
}

function inTurn(a: Candidate, b: Candidate): number {
  const byPriority = (b.submission.priority ?? priorityDefault) - (a.submission.priority ?? priorityDefault)
  return byPriority === 0 ? (a.id < b.id ? -1 : 1) : byPriority
}
