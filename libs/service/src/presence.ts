import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '@toolyard/contract/ids'
import type { Pool } from '@toolyard/db/pool'
import type { ServiceKind } from './list-processes.ts'
import { announceEveryMs } from './list-processes.ts'
import type { Parts } from './part.ts'
import { allReady } from './part.ts'
import { repeat } from './repeat.ts'

const upsert = `
  insert into processes (id, kind, host, pid, ready, parts)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (id) do update set seen_at = clock_timestamp(), ready = excluded.ready, parts = excluded.parts`

// A row that cannot be taken away grows old by itself.
const leaveMs = 2_000

export type PresenceOptions = {
  pool: Pool
  kind: ServiceKind
  /** Asked each time, so that the row says how it is now. */
  parts: () => Parts
  onFailure: (error: unknown) => void
}

export type Presence = { leave(): Promise<void> }

/** Keeps this process's row in `processes` fresh. While the database is away it goes on trying. */
export function announcePresence({ pool, kind, parts, onFailure }: PresenceOptions): Presence {
  const id = newId()
  const announcing = repeat({
    everyMs: announceEveryMs,
    retryMs: announceEveryMs / 5,
    onFailure,
    async work() {
      const now = parts()
      await pool.query(upsert, [id, kind, hostname(), process.pid, allReady(now), JSON.stringify(now)])
    },
  })

  async function remove(): Promise<void> {
    await announcing.stop()
    await pool.query('delete from processes where id = $1', [id])
  }

  return { leave: () => Promise.race([remove().catch(onFailure), delay(leaveMs, undefined, { ref: false })]) }
}
