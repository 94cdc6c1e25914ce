import type { Pool } from '@toolyard/db/pool'
import { queryWithin } from './query-within.ts'

const readEpoch = `
  select epoch, (extract(epoch from clock_timestamp()) * 1000)::float8 as database_now_ms
  from access_epoch`

const defaultIntervalMs = 1_000
// Counted from when the read began: what it saw may have been overtaken the moment after the server took it.
const honouredMs = 2_000
const readLimitMs = 1_500

type Reading = { epoch: string; beganAtMs: number; databaseNowMs: number }

export type EpochWatchOptions = {
  pool: Pool
  /** Called when reads begin to fail, once per outage. */
  onFailure: (error: unknown) => void
  /** A clock that never goes back. */
  monotonicMs?: () => number
  intervalMs?: number
}

export type EpochWatch = {
  /**
   * The access epoch and the database's time, as long as the last successful read began under 2 s ago; else undefined,
   * and only the database itself can say which keys hold.
   */
  fresh(): { epoch: string; databaseNowMs: number } | undefined
  close(): Promise<void>
}

/** Reads the access epoch each second. Its timer does not keep the process alive. */
export function startEpochWatch(options: EpochWatchOptions): EpochWatch {
  const { pool, onFailure, monotonicMs = () => performance.now(), intervalMs = defaultIntervalMs } = options
  let reading: Reading | undefined
  let isFailing = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let running = read()

  async function read(): Promise<void> {
    const beganAtMs = monotonicMs()
    try {
      const rows = await queryWithin<{ epoch: string; database_now_ms: number }>(pool, {
        text: readEpoch,
        limitMs: readLimitMs,
      })
      const row = rows[0]
      if (row === undefined) throw new Error('access_epoch holds no row')
      reading = { epoch: row.epoch, beganAtMs, databaseNowMs: row.database_now_ms }
      isFailing = false
    } catch (error) {
      if (!isFailing && !isClosed) onFailure(error)
      isFailing = true
    }
    if (!isClosed) scheduleRead(beganAtMs)
  }

  function scheduleRead(beganAtMs: number): void {
    const elapsedMs = monotonicMs() - beganAtMs
    timer = setTimeout(
      () => {
        running = read()
      },
      Math.max(0, intervalMs - elapsedMs),
    ).unref()
  }

  return {
    fresh() {
      if (reading === undefined || isClosed) return undefined
      const ageMs = monotonicMs() - reading.beganAtMs
      if (ageMs >= honouredMs) return undefined
      // The server took its time after the read began, so this is never behind the database's clock.
      return { epoch: reading.epoch, databaseNowMs: reading.databaseNowMs + ageMs }
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}
