import type { Sql } from '@toolyard/db/pool'
import { secretCheck } from './secret-hash.ts'
import { parseToken } from './token.ts'

// index: api_keys_pkey
const select = `
  select exists (
    select 1 from api_keys
    where id = $1
      and secret_check = $2
      and 'keys:manage' = any (scopes)
      and revoked_at is null
      and (expires_at is null or expires_at > clock_timestamp())) as found`

/**
 * Whether this text is a key that manages keys and works. Compares the short check instead of the hash: it is asked of
 * a file that only its owner can write, and grants nothing.
 */
export async function isAdminToken(sql: Sql, text: string): Promise<boolean> {
  const token = parseToken(text)
  if (token === undefined) return false
  const result = await sql.query<{ found: boolean }>(select, [token.id, secretCheck(token.secret)])
  return result.rows[0]?.found === true
}
