import assert from 'node:assert/strict'
import { AppError } from '@toolyard/contract/errors'
import type { Sql } from '@toolyard/db/pool'
import type { Actor } from './actor.ts'

const moveEpoch = 'update access_epoch set epoch = epoch + 1'
const findUsable = `
  select id from api_keys
  where id = $1 and revoked_at is null and (expires_at is null or expires_at > clock_timestamp())`

/**
 * The first step of every transaction that changes keys. Moving the epoch locks its one row, so changes happen one
 * after the other and cannot deadlock. Only then is the actor's key looked at again: a key whose revocation has
 * committed can no longer change anything, not even in the 2 s in which a process may still honour it.
 */
export async function beginChange(sql: Sql, actor: Actor): Promise<void> {
  const moved = await sql.query(moveEpoch)
  assert.equal(moved.rowCount, 1, 'access_epoch must hold its one row')
  if (actor.kind === 'operator') return
  const found = await sql.query(findUsable, [actor.key.id])
  if (found.rowCount !== 1) throw new AppError('unauthenticated', 'This key has expired or was revoked')
}
