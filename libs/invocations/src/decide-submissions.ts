import { queuedMax, queuedPerToolMax } from './limits.ts'
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
  free: number
  has_held: boolean
}

/** How much waits already, about. */
export type Depth = { ofTool: (tool: string) => number; total: () => number }

export type Gate = 'delayed' | 'held' | 'open'

/** Counts as it goes, so that one batch cannot pass a limit either. */
export function createDecider(facts: ReadonlyMap<string, ToolFacts>, depth: Depth) {
  const accepted = new Map<string, number>()
  let acceptedInAll = 0

  function refusalOf({ tool, checkedHash }: Submission): SubmitRefusal | undefined {
    const known = facts.get(tool)
    if (known === undefined || known.removed || known.hash === null) return { code: 'unknown_tool' }
    if (!known.tools_enabled) return { code: 'tools_disabled' }
    if (!known.enabled) return { code: 'tool_disabled' }
    if (known.image_failed) return { code: 'image_failed' }
    if (checkedHash !== undefined && checkedHash !== known.hash) return { code: 'tool_changed' }
    if (depth.ofTool(tool) + (accepted.get(tool) ?? 0) >= queuedPerToolMax)
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
  const byPriority = (b.submission.priority ?? 5) - (a.submission.priority ?? 5)
  return byPriority === 0 ? (a.id < b.id ? -1 : 1) : byPriority
}
