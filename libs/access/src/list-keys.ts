import type { PageRequest } from '@toolyard/contract/page'
import { cutPage, readPageRequest } from '@toolyard/contract/page'
import type { Sql } from '@toolyard/db/pool'
import type { AccessKey, AccessKeyRow } from './access-key.ts'
import { toAccessKey } from './access-key.ts'
import type { Actor } from './actor.ts'
import { reachOf } from './actor.ts'
import { requireActorScope } from './require-scope.ts'
import { isId } from './token.ts'

// index: api_keys_pkey
const select = `
  select id, name, scopes, topics, tools, created_at, expires_at, revoked_at
  from api_keys
  where ($1::text[] is null or topics <@ $1)
    and ($2::text[] is null or tools <@ $2)
    and ($3::text is null or id < $3)
  order by id desc
  limit $4`

/** Newest first, revoked and expired ones too; only what is within the actor's reach. */
export async function listKeys(
  sql: Sql,
  actor: Actor,
  request: PageRequest = {},
): Promise<{ keys: AccessKey[]; nextCursor: string | null }> {
  requireActorScope(actor, 'keys:manage')
  const { after, limit } = readPageRequest(request, isId)
  const reach = reachOf(actor)
  const found = await sql.query<AccessKeyRow>(select, [reach.topics, reach.tools, after, limit + 1])
  const { page, nextCursor } = cutPage(found.rows, limit, ({ id }) => id)
  return { keys: page.map(toAccessKey), nextCursor }
}
