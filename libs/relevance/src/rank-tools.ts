import { rank, standingOf } from '@toolyard/memory/rank'
import type { Candidate, Ranked, Standings } from '@toolyard/memory/rank'

/** What a tool with no outcomes at all gains for being tried; the more it has, the less. */
const explorationMax = 0.1

export type Preferred<T extends Candidate> = Ranked<T> & {
  /** 1 to 1.1: what it gains because little is known of it. Part of `final`. */
  exploration: number
}

/**
 * The best first: relevance × memory × exploration, which goes by the same standing as the memory. The gain is small enough
 * that what is known to be better stays first, and settles what is a draw.
 */
export function rankTools<T extends Candidate>(
  candidates: readonly T[],
  standings: Standings,
): Preferred<T>[] {
  const preferred: Preferred<T>[] = []
  for (const one of rank(candidates, standings)) {
    const attempts = standingOf(one.tool, standings)?.attempts ?? 0
    const exploration = 1 + explorationMax / Math.sqrt(1 + attempts)
    preferred.push({ ...one, exploration, final: one.final * exploration })
  }
  return preferred.sort(
    (a, b) => b.final - a.final || b.relevance - a.relevance || (a.tool < b.tool ? -1 : 1),
  )
}
