/** What one outcome taught: these words led to this tool, and it went well or badly. */
export type Lesson = {
  id: string
  tool: string
  /** Null: of calls without a topic. That is a topic like any other: nobody else sees it. */
  topic: string | null
  atMs: number
  /** Above 0: it was the right tool and did what was asked. Below: it was not, or failed. */
  reward: number
  /** The terms of the query as `analyze` makes them. */
  terms: readonly string[]
  /**
   * The query as the embedder makes it; once learned, as the index has its own. Null: it was not to be had, or is of another
   * model; the terms teach alone.
   */
  vector: Float32Array | null
}

const usualSuccess = 0.3
const usualFailure = 0.2
const weightMax = 2

/** How much it counts, whichever way: 1 for a usual success or failure, 0.25 for one that lay outside, 2 at most. */
export function lessonWeight({ reward }: Pick<Lesson, 'reward'>): number {
  return Math.min(weightMax, Math.abs(reward) / (reward > 0 ? usualSuccess : usualFailure))
}
