import type { Embedder } from './embedding/embedder.ts'
import { EmbedderError } from './embedding/embedder.ts'
import { createTurns } from './take-turns.ts'

/** Agents repeat themselves: so many queries are not embedded again. */
const keptMax = 500
/** As long as a local model takes to be loaded, and a search can wait. */
const patienceDefaultMs = 2_000
/** After a failure nobody is made to wait for the next one. */
const pauseMs = 5_000

export type Patience = { patienceMs?: number | undefined; monotonicMs?: (() => number) | undefined }

/**
 * The vectors of queries, as they come from the embedder. Null: there is none to be had in time, and words decide. Askers
 * take turns, so that one who asks much waits for itself; a text that is refused keeps nobody else from his.
 */
export function createQueryVectors(
  embedder: Embedder,
  { patienceMs = patienceDefaultMs, monotonicMs = () => performance.now() }: Patience = {},
) {
  const kept = new Map<string, Float32Array>()
  const waiting = new Map<string, Promise<Float32Array | null>>()
  const turns = createTurns(embedder.atOnceMax)
  let pausedUntilMs = -Infinity

  const pause = (): void => {
    pausedUntilMs = monotonicMs() + pauseMs
  }

  const keep = (query: string, vector: Float32Array): void => {
    kept.delete(query)
    kept.set(query, vector)
    const [oldest] = kept.keys()
    if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest)
  }

  const embed = async (query: string): Promise<Float32Array | null> => {
    // Those who wait for their turns meanwhile would find the same.
    if (monotonicMs() < pausedUntilMs) return null
    // Who answers this late makes the next ones wait as long.
    const late = setTimeout(pause, patienceMs)
    try {
      const [vector] = await embedder.embed([query])
      pausedUntilMs = -Infinity
      if (vector !== undefined) keep(query, vector)
      return vector ?? null
    } catch (error) {
      if (!(error instanceof EmbedderError)) throw error
      if (error.fault === 'embedder') pause()
      return null
    } finally {
      clearTimeout(late)
    }
  }

  const ask = (query: string, asker: string): Promise<Float32Array | null> | null => {
    const asked = turns.take(asker, () => embed(query))
    if (asked === null) return null
    const done = asked.finally(() => waiting.delete(query))
    waiting.set(query, done)
    return done
  }

  return {
    async of(query: string, asker: string): Promise<Float32Array | null> {
      const known = kept.get(query)
      if (known !== undefined) {
        keep(query, known)
        return known
      }
      if (monotonicMs() < pausedUntilMs) return null
      const asked = waiting.get(query) ?? ask(query, asker)
      // What is not in time goes on, so that the same query has its vector the next time.
      return asked === null ? null : within(asked, patienceMs)
    },
  }
}

async function within<T>(asked: Promise<T>, ms: number): Promise<T | null> {
  const late = Promise.withResolvers<null>()
  const timer = setTimeout(() => late.resolve(null), ms)
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
