import { newId } from '@toolyard/contract/ids'
import type { Sql } from '@toolyard/db/pool'
import type { Call } from './actor.ts'
import { actorName, actorReference } from './actor.ts'
import { blotTokens } from './token.ts'

const insertEntry = `
  insert into audit (id, actor, actor_name, action, target, detail, request_id)
  values ($1, $2, $3, $4, $5, $6, $7)`

export type AuditNote = {
  /** `<kind>.<verb>`, as in `key.create`. */
  action: string
  /** `<kind>:<id>`, as in `key:01j…`. */
  target: string
  detail: Readonly<Record<string, unknown>>
}

/**
 * Writes who did what, in the transaction that does it. `detail` must hold no secret; a key that somebody pasted
 * into a name is blotted out all the same (I6).
 */
export async function writeAudit(sql: Sql, call: Call, note: AuditNote): Promise<void> {
  await sql.query(insertEntry, [
    newId(),
    actorReference(call.actor),
    blotTokens(actorName(call.actor)),
    note.action,
    note.target,
    blotTokens(JSON.stringify(note.detail)),
    call.requestId ?? null,
  ])
}
