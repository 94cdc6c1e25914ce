import type { AuditEntryShape } from '@toolyard/contract/keys'
import type { PageRequest } from '@toolyard/contract/page'
import { cutPage, readPageRequest } from '@toolyard/contract/page'
import type { Sql } from '@toolyard/db/pool'
import type { Actor } from './actor.ts'
import { reachOf } from './actor.ts'
import { isId } from './token.ts'

export type AuditEntry = {
  id: string
  at: Date
  actor: string
  actor_name: string
  action: string
  target: string
  detail: Record<string, unknown>
  request_id: string | null
}

// Only for a reference to a key: what else is the target of an act may look like one behind its kind.
const isInReach = (key: string, reference: string) => `
    ${key}.id = substr(${reference}, 5) and starts_with(${reference}, 'key:')
      and ($1::text[] is null or ${key}.topics <@ $1) and ($2::text[] is null or ${key}.tools <@ $2)`

// indexes: audit_pkey, api_keys_pkey
const select = `
  select entry.id, entry.at, entry.action, entry.target, entry.detail, entry.request_id,
    case when seen.everything or actor.id is not null then entry.actor else 'beyond' end as actor,
    case when seen.everything or actor.id is not null then entry.actor_name else '' end as actor_name
  from audit as entry
  cross join (select $1::text[] is null and $2::text[] is null as everything) as seen
  left join api_keys as actor on not seen.everything and ${isInReach('actor', 'entry.actor')}
  left join api_keys as target on not seen.everything and ${isInReach('target', 'entry.target')}
  where (seen.everything or actor.id is not null or target.id is not null)
    and ($3::text is null or entry.id < $3)
  order by entry.id desc
  limit $4`

/**
 * Newest first. Unbound actors see all. A bound key sees what was done by a key within its reach or to one; an actor
 * beyond its reach stands there as `beyond`, without id and name, so that the audit shows no key that the list of
 * keys would hide. The scope (`keys:manage` or `ops:view`) is the edge's to check.
 */
export async function listAudit(
  sql: Sql,
  actor: Actor,
  request: PageRequest = {},
): Promise<{ entries: AuditEntry[]; nextCursor: string | null }> {
  const { after, limit } = readPageRequest(request, isId)
  const reach = reachOf(actor)
  const found = await sql.query<AuditEntry>(select, [reach.topics, reach.tools, after, limit + 1])
  const { page, nextCursor } = cutPage(found.rows, limit, ({ id }) => id)
  return { entries: page, nextCursor }
}

export function toAuditEntryShape(entry: AuditEntry): AuditEntryShape {
  return { ...entry, at: entry.at.toISOString() }
}
