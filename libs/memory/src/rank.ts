// The memory is the only authority on which tool is preferred.

/** What the memory says of a tool, overall or in one topic. */
export type Standing = {
  weight: number
  recent: number
  /** Outcomes that it is made of. Absent where they are nothing that the caller may know. */
  attempts?: number
}

/** Of tools with outcomes alone; a standing without one is left out. */
export type Standings = {
  /** Over all tools that have outcomes. Null: none has. */
  meanWeight: number | null
  overall: ReadonlyMap<string, Standing>
  /** In the topic of the caller. */
  inTopic: ReadonlyMap<string, Standing>
}

export type Candidate = {
  tool: string
  /** How likely it is to be what was asked for: 0 to 1. */
  relevance: number
}

export type Ranked<T extends Candidate> = T & {
  /** What the memory makes of it: below 1 it does worse than others, above 1 better. */
  memory: number
  final: number
}

/** The best first. */
export function rank<T extends Candidate>(candidates: readonly T[], standings: Standings): Ranked<T>[] {
  return candidates
    .map((candidate) => {
      const memory = memoryFactor(candidate.tool, standings)
      return { ...candidate, memory, final: candidate.relevance * memory }
    })
    .toSorted((a, b) => b.final - a.final || b.relevance - a.relevance || (a.tool < b.tool ? -1 : 1))
}

/** The one that counts: of the topic before overall. */
export const standingOf = (tool: string, { inTopic, overall }: Standings): Standing | undefined =>
  inTopic.get(tool) ?? overall.get(tool)

function memoryFactor(tool: string, standings: Standings): number {
  const standing = standingOf(tool, standings)
  const { meanWeight } = standings
  // A tool without outcomes has neither earned nor lost anything.
  if (standing === undefined || meanWeight === null) return 1
  return (standing.weight / meanWeight) * standing.recent
}
