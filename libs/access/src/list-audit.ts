import type { AuditEntryShape } from '@toolyard/contract/keys'
import type { Sql } from '@toolyard/db/pool'
import type { Actor } from './actor.ts'
import { reachOf } from './actor.ts'
import type { PageRequest } from './page.ts'
import { cutPage, readPageRequest } from './page.ts'

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

// index: audit_pkey
const select = `
  with reach as (
    select 'key:' || id as reference
    from api_keys
    where ($1::text[] is null or topics <@ $1)
      and ($2::text[] is null or tools <@ $2)
  )
  select entry.id, entry.at, entry.action, entry.target, entry.detail, entry.request_id,
    case when seen.everything or actor.reference is not null then entry.actor else 'beyond' end as actor,
    case when seen.everything or actor.reference is not null then entry.actor_name else '' end as actor_name
  from audit as entry
  cross join (select $1::text[] is null and $2::text[] is null as everything) as seen
  left join reach as actor on actor.reference = entry.actor
  where (seen.everything or actor.reference is not null or entry.target in (select reference from reach))
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
  const { after, limit } = readPageRequest(request)
  const reach = reachOf(actor)
  const found = await sql.query<AuditEntry>(select, [reach.topics, reach.tools, after, limit + 1])
  const { page, nextCursor } = cutPage(found.rows, limit)
  return { entries: page, nextCursor }
}

export function toAuditEntryShape(entry: AuditEntry): AuditEntryShape {
  return { ...entry, at: entry.at.toISOString() }
}
