import type { NewKeyBody } from '@toolyard/contract/keys'
import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import type { Call } from './actor.ts'
import { beginChange } from './begin-change.ts'
import type { NewKey } from './insert-key.ts'
import { insertKey, prepareSecret } from './insert-key.ts'
import { refuseEscalation } from './refuse-escalation.ts'
import { requireActorScope } from './require-scope.ts'

/** Makes a key and gives its token, this once. `body` has been parsed by `newKeyBody`. */
export async function createKey(pool: Pool, call: Call, body: NewKeyBody): Promise<NewKey> {
  requireActorScope(call.actor, 'keys:manage')
  refuseEscalation(call.actor, body)
  const prepared = await prepareSecret()
  return transaction(pool, async (sql) => {
    await beginChange(sql, call.actor)
    return insertKey(sql, call, body, prepared)
  })
}
