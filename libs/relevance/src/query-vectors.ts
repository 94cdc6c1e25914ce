import type { Embedder } from './embedding/embedder.ts'
import { EmbedderError } from './embedding/embedder.ts'

/** Agents repeat themselves: so many queries are not embedded again. */
const keptMax = 500
/** Who comes when so many wait already is answered by words: it would wait too long. */
const waitingMax = 64
/** As long as a local model takes to be loaded, and a search can wait. */
const patienceDefaultMs = 2_000
/** After a failure nobody is made to wait for the next one. */
const pauseMs = 5_000

export type Patience = { patienceMs?: number | undefined; monotonicMs?: (() => number) | undefined }

/** The vectors of queries, as they come from the embedder. Null: there is none to be had in time, and words decide. */
export function createQueryVectors(
  embedder: Embedder,
  { patienceMs = patienceDefaultMs, monotonicMs = () => performance.now() }: Patience = {},
) {
  const kept = new Map<string, Float32Array>()
  const waiting = new Map<string, Promise<Float32Array | null>>()
  let pausedUntilMs = -Infinity

  const keep = (query: string, vector: Float32Array): void => {
    kept.delete(query)
    kept.set(query, vector)
    const [oldest] = kept.keys()
    if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest)
  }

  const embed = async (query: string): Promise<Float32Array | null> => {
    try {
      const [vector] = await embedder.embed([query])
      if (vector !== undefined) keep(query, vector)
      return vector ?? null
    } catch (error) {
      if (!(error instanceof EmbedderError)) throw error
      pausedUntilMs = monotonicMs() + pauseMs
      return null
    } finally {
      waiting.delete(query)
    }
  }

  return {
    async of(query: string): Promise<Float32Array | null> {
      const known = kept.get(query)
      if (known !== undefined) {
        keep(query, known)
        return known
      }
      if (monotonicMs() < pausedUntilMs) return null
      const asked = waiting.get(query) ?? (waiting.size < waitingMax ? embed(query) : null)
      if (asked === null) return null
      // It goes on, so that the same query has its vector the next time.
      if (!waiting.has(query)) waiting.set(query, asked)
      return within(asked, patienceMs)
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
