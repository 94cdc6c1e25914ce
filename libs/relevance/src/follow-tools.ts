import type { Manifest } from '@toolyard/contract/manifest'
import type { Pool } from '@toolyard/db/pool'
import type { Logger } from '@toolyard/log/logger'
import type { Searcher } from './create-searcher.ts'
import type { Embedder } from './embedding/embedder.ts'
import { keepVectors } from './rows/keep-vectors.ts'
import { readVectors } from './rows/read-vectors.ts'
import { toolTextOf } from './text/tool-text-of.ts'

/** All tools as they were at one moment; a later moment has a higher epoch. */
export type ToolsAtOnce = { epoch: number; tools: readonly { manifest?: Manifest }[] }

export type FollowDeps = { pool: Pool; embedder: Embedder; searcher: Searcher; log: Pick<Logger, 'warn'> }

/** After a failure the embedder is left alone for so long. */
const pauseMs = 10_000

/**
 * Keeps the tools of a searcher those of the catalogue. `follow` resolves when they are what the caller has seen.
 */
export function followTools({ pool, embedder, searcher, log }: FollowDeps) {
  let epoch = -1
  let reading: { epoch: number; done: Promise<void> } | undefined
  let isMaking = false
  let pausedUntilMs = -Infinity

  const read = async (seen: ToolsAtOnce): Promise<void> => {
    const texts = seen.tools.flatMap(({ manifest }) => (manifest === undefined ? [] : [toolTextOf(manifest)]))
    const kept = await readVectors(pool, embedder, searcher.neededHashes(texts))
    // Another reading may have been faster, and newer.
    if (seen.epoch <= epoch) return
    searcher.setTools(texts, kept)
    epoch = seen.epoch
  }

  const begin = (seen: ToolsAtOnce): Promise<void> => {
    const done = read(seen).finally(() => {
      if (reading?.done === done) reading = undefined
    })
    reading = { epoch: seen.epoch, done }
    return done
  }

  const fail = (error: unknown): void => {
    pausedUntilMs = performance.now() + pauseMs
    log.warn('vectors of tools could not be made: tools are found by their words', { error })
  }

  const tell = (refused: readonly string[]): void => {
    if (refused.length === 0) return
    log.warn('texts of tools are refused by the embedder: they are found by their words', { tools: refused })
  }

  return {
    async follow(seen: ToolsAtOnce): Promise<void> {
      // After a change everybody comes at once, and one reading is enough.
      if (seen.epoch > epoch)
        await (reading !== undefined && reading.epoch >= seen.epoch ? reading.done : begin(seen))
    },
    /** Those that nobody has made yet, behind everybody's back. */
    makeVectors(): void {
      if (isMaking || searcher.isComplete() || performance.now() < pausedUntilMs) return
      isMaking = true
      searcher
        .complete((made) => keepVectors(pool, made))
        .then(tell, fail)
        .finally(() => {
          isMaking = false
        })
    },
  }
}
