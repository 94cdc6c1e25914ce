import type { Pool } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'

export type Message = { channel: string; payload: string }

// Postgres takes less than 8,000 bytes a message; an id with its comma has 31.
const idsPerMessage = 200

// Notifying transactions commit one at a time, so they must not wait for the disk, and must hold nothing else.
const send = prepared(`
  select set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
  from unnest($1::text[], $2::text[]) as message (channel, payload)`)

/** Tells whoever listens now; nothing of it is kept. The same message twice in one call is heard once. */
export async function notify(pool: Pool, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return
  await pool.query(send([messages.map(({ channel }) => channel), messages.map(({ payload }) => payload)]))
}

export function idMessages(channel: string, ids: readonly string[]): Message[] {
  const messages = []
  for (let at = 0; at < ids.length; at += idsPerMessage)
    messages.push({ channel, payload: ids.slice(at, at + idsPerMessage).join(',') })
  return messages
}
