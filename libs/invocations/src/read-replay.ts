import type { Actor } from '@toolyard/access/actor'
import type { Json } from '@toolyard/contract/parameters'
import type { Sql } from '@toolyard/db/pool'
import type { Submission } from './submission.ts'
import { bindingsOf, isInvocationId, isVisible, notFound } from './visible.ts'

const select = `
  select invocations.id, tool, topic, key_id, priority, coalesce(ran_hash, pinned_hash, submitted_hash) as hash,
    input.params, input.telemetry, input.metadata, input.callback_url
  from invocations join invocation_inputs as input on input.id = invocations.id
  where invocations.id = $1 and ${isVisible('$2', '$3')}`

type Row = {
  id: string
  tool: string
  topic: string
  key_id: string | null
  priority: number
  hash: string
  params: Record<string, Json>
  telemetry: Record<string, Json>
  metadata: Json
  callback_url: string | null
}

/**
 * What was given to an invocation, to be submitted anew as this key's call: with the version that ran (`same`), or
 * whichever serves. For `newest` the edge validates the params again, since the manifest may have changed.
 */
export async function readReplay(
  sql: Sql,
  actor: Actor,
  { id, version }: { id: string; version: 'same' | 'newest' },
): Promise<Submission> {
  if (!isInvocationId(id)) throw notFound()
  const found = await sql.query<Row>(select, [id, ...bindingsOf(actor)])
  const row = found.rows[0]
  if (row === undefined) throw notFound()
  const keyId = actor.kind === 'key' ? actor.key.id : null
  return {
    tool: row.tool,
    topic: row.topic,
    keyId,
    params: row.params,
    telemetry: row.telemetry,
    metadata: row.metadata,
    // Where another key is told is no choice of this one, and would be signed with a secret that the receiver does not know.
    callbackUrl: row.key_id === keyId ? (row.callback_url ?? undefined) : undefined,
    priority: row.priority,
    pinnedHash: version === 'same' ? row.hash : undefined,
    replayOf: row.id,
  }
}
