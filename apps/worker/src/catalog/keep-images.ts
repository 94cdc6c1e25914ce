import { setTimeout as delay } from 'node:timers/promises'
import { beginBuild, recordProgress } from '@toolyard/catalog/begin-build'
import type { BuildResult } from '@toolyard/catalog/finish-build'
import { finishBuild } from '@toolyard/catalog/finish-build'
import type { FoundTool } from '@toolyard/catalog/found-tool'
import { wantImages } from '@toolyard/catalog/want-images'
import { tryLock } from '@toolyard/db/advisory-lock'
import type { Pool } from '@toolyard/db/pool'
import type { Logger } from '@toolyard/log/logger'
import type { Consumer, Handled } from '@toolyard/queue/consume'
import { imagesQueue } from '@toolyard/queue/names'
import type { Queues } from '@toolyard/queue/queues'
import { repeat } from '@toolyard/service/repeat'
import { tellFailure } from './tell-failure.ts'

export type BuildImage = (
  tool: FoundTool,
  options: { signal: AbortSignal; onProgress: (line: string) => void },
) => Promise<BuildResult>

export type ImageKeeperOptions = {
  pool: Pool
  /** A lock keeps a connection for as long as a build lasts: not one of those that leases are renewed on. */
  locks: Pool
  queues: Queues
  log: Logger
  schemaFits: Promise<void>
  engineId: () => string | undefined
  found: (hash: string) => FoundTool | undefined
  build: BuildImage
  concurrency: number
}

export type ImageKeeper = {
  /** There may be something to build. */
  look(): void
  drain(): Promise<void>
}

const relayEveryMs = 5_000
const lockedRetryMs = 2_000
const progressEveryMs = 500

/** Builds what this worker's engine lacks, a few at a time, each once however many workers the engine has. */
export function keepImages(options: ImageKeeperOptions): ImageKeeper {
  const { pool, queues, log, schemaFits, engineId, concurrency } = options
  let consumer: { engine: string; opened: Consumer } | undefined
  let isEnding = false
  let turn: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  // Rows are the truth: what is not in the queue is put there again.
  const relay = repeat({
    everyMs: relayEveryMs,
    work: relayInTurn,
    onFailure: (error) => log.warn('images cannot be put into the queue', { error }),
  })

  // One after the other: two at once would each open a consumer. Who comes while one waits is served by it.
  function relayInTurn(): Promise<void> {
    next ??= turn.then(() => {
      next = undefined
      const now = relayOnce()
      turn = now.catch(() => {})
      return now
    })
    return next
  }

  async function relayOnce(): Promise<void> {
    await schemaFits
    const engine = engineId()
    if (engine === undefined || isEnding) return
    if (consumer?.engine !== engine) await consume(engine)
    const wanted = await wantImages(pool, engine)
    const jobs = wanted.map(({ hash }) => ({ id: `image-${hash}`, data: { imageHash: hash } }))
    if (jobs.length > 0) await queues.enqueue(imagesQueue(engine), jobs)
  }

  async function consume(engine: string): Promise<void> {
    await consumer?.opened.drain({ timeoutMs: 0 })
    const opened = await queues.consume(
      imagesQueue(engine),
      ({ imageHash }, { signal }) => buildOnce(options, { hash: imageHash, engine, signal }),
      { concurrency },
    )
    consumer = { engine, opened }
  }

  return {
    look: () =>
      void relayInTurn().catch((error: unknown) => log.warn('looking for images failed', { error })),
    async drain() {
      isEnding = true
      await relay.stop()
      await turn
      await consumer?.opened.drain({ timeoutMs: 0 })
    },
  }
}

type Turn = { hash: string; engine: string; signal: AbortSignal }

async function buildOnce(options: ImageKeeperOptions, { hash, engine, signal }: Turn): Promise<Handled> {
  const { pool, locks, queues, log, found, build } = options
  const tool = found(hash)
  // Another worker of this engine may have it, or the folder has moved on. The relay knows.
  if (tool === undefined) return { done: true }
  const lock = await tryLock(locks, `image ${engine} ${hash}`)
  if (lock === undefined) return { again: { delayMs: lockedRetryMs } }
  try {
    if ((await beginBuild(pool, hash, engine)) === undefined) return { done: true }
    const startedMs = performance.now()
    const report = createProgressReport(pool, { hash, engineId: engine })
    const ending = AbortSignal.any([signal, lock.signal])
    const onProgress = (line: string) => report.say(line)
    const result = await report.during(build(tool, { signal: ending, onProgress }))
    const seconds = Math.round((performance.now() - startedMs) / 100) / 10
    // Cut short, it stays "building" for whoever takes the lock next.
    if (ending.aborted && result.kind !== 'ready') return { again: { delayMs: lockedRetryMs } }
    const telling = tellFailure(queues, log)
    const ended = { tool: tool.name, hash, engineId: engine, result }
    const serves = await finishBuild(pool, ended, telling.within)
    await telling.send()
    const line = { tool: tool.name, hash, seconds, serves }
    if (result.kind === 'ready') log.info('an image was built', line)
    else log.warn('an image could not be built', { ...line, detail: result.detail })
    // A fault of the engine is tried again by the relay.
    return { done: true }
  } finally {
    await lock.release()
  }
}

/** The newest line, at most twice a second; a line that cannot be written is no reason to stop a build. */
function createProgressReport(pool: Pool, build: { hash: string; engineId: string }) {
  const ended = new AbortController()
  let latest: string | undefined
  let writing: Promise<void> | undefined
  // To the last line: a step may say what it does and then nothing for minutes.
  async function write(): Promise<void> {
    while (latest !== undefined && !ended.signal.aborted) {
      const line = latest
      latest = undefined
      await recordProgress(pool, { ...build, line }).catch(() => {})
      await delay(progressEveryMs, undefined, { signal: ended.signal }).catch(() => {})
    }
    writing = undefined
  }
  return {
    say(line: string): void {
      latest = line
      writing ??= write()
    },
    async during<T>(work: Promise<T>): Promise<T> {
      try {
        return await work
      } finally {
        ended.abort()
        await writing
      }
    },
  }
}
