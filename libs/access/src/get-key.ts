import { AppError } from '@toolyard/contract/errors'
import type { Sql } from '@toolyard/db/pool'
import type { AccessKey, AccessKeyRow } from './access-key.ts'
import { toAccessKey } from './access-key.ts'
import type { Actor } from './actor.ts'
import { reachOf } from './actor.ts'
import { requireActorScope } from './require-scope.ts'
import { isId } from './token.ts'

const select = `
  select id, name, scopes, topics, tools, created_at, expires_at, revoked_at
  from api_keys
  where id = $1
    and ($2::text[] is null or topics <@ $2)
    and ($3::text[] is null or tools <@ $3)`

/** A key beyond the actor's reach is answered as one that does not exist. */
export async function getKey(sql: Sql, actor: Actor, id: string): Promise<AccessKey> {
  requireActorScope(actor, 'keys:manage')
  if (!isId(id)) throw noSuchKey()
  const reach = reachOf(actor)
  const found = await sql.query<AccessKeyRow>(select, [id, reach.topics, reach.tools])
  const row = found.rows[0]
  if (row === undefined) throw noSuchKey()
  return toAccessKey(row)
}

export function noSuchKey(): AppError {
  return new AppError('not_found', 'There is no such key')
}
