import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from '@toolyard/db/pool'
import type { Metrics } from '@toolyard/log/metrics'
import type { ServiceKind } from './list-processes.ts'
import { announceEveryMs } from './list-processes.ts'
import type { Parts } from './part.ts'
import { allReady } from './part.ts'
import { repeat } from './repeat.ts'

const upsert = `
  insert into processes (id, kind, host, pid, ready, parts, metrics)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (id) do update
  set seen_at = clock_timestamp(), ready = excluded.ready, parts = excluded.parts, metrics = excluded.metrics`

const brieflyMs = 2_000
// How late others hear that a part has come or gone: whoever starts everything waits for nothing else.
const lookEveryMs = 100

export type PresenceOptions = {
  pool: Pool
  id: string
  kind: ServiceKind
  /** Asked each time, so that the row says how it is now. */
  parts: () => Parts
  metrics: Pick<Metrics, 'share'>
  onFailure: (error: unknown) => void
}

export type Presence = {
  /** Says now how it is, without waiting for the next turn. */
  refresh(): Promise<void>
  /** Takes the row away: from here on nothing of this process is believed to live. */
  leave(): Promise<void>
}

/**
 * Keeps this process's row in `processes` fresh, and tells at once what has changed. While the database is away it goes
 * on trying.
 */
export function announcePresence({ pool, id, kind, parts, metrics, onFailure }: PresenceOptions): Presence {
  let told: string | undefined

  async function announce(): Promise<void> {
    const now = parts()
    told = statesOf(now)
    const values = [id, kind, hostname(), process.pid, allReady(now), JSON.stringify(now)]
    await pool.query(upsert, [...values, JSON.stringify(await metrics.share())])
  }
  const announcing = repeat({
    everyMs: announceEveryMs,
    retryMs: announceEveryMs / 5,
    onFailure,
    work: announce,
  })

  const looking = setInterval(() => {
    if (statesOf(parts()) !== told) announcing.hasten()
  }, lookEveryMs)

  async function remove(): Promise<void> {
    clearInterval(looking)
    await announcing.stop()
    await pool.query('delete from processes where id = $1', [id])
  }

  // While the database is away neither is worth waiting for: the row grows old by itself.
  const briefly = (work: Promise<void>) =>
    Promise.race([work.catch(onFailure), delay(brieflyMs, undefined, { ref: false })])
  return { refresh: () => briefly(announce()), leave: () => briefly(remove()) }
}

const statesOf = (parts: Parts) =>
  Object.entries(parts)
    .map(([name, { state }]) => `${name} ${state}`)
    .join()
