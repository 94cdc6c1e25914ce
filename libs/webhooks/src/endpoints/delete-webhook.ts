import type { Call } from '@toolyard/access/actor'
import { writeAudit } from '@toolyard/access/write-audit'
import { transaction } from '@toolyard/db/transaction'
import type { Vault } from '@toolyard/vault/open-vault'
import { dropVoid } from '../deliveries/drop-void.ts'
import { receiverOf } from '../deliveries/receiver.ts'
import { forgetSecrets, ofWebhook } from './signing-secrets.ts'
import { isOwned, isWebhookRef, noSuchWebhook, ownerOf, webhookTarget } from './webhook.ts'

// Waits for a try that is just about to start: see begin-try.ts.
const remove = `delete from webhooks where id = $1 and ${isOwned('$2')} returning secret_no as no`

/** What it was told stays listed under its id until it is old. */
export async function deleteWebhook(vault: Vault, call: Call, id: string): Promise<void> {
  if (!isWebhookRef(id)) throw noSuchWebhook()
  const { no } = await transaction(vault.pool, async (sql) => {
    const { rows } = await sql.query<{ no: number }>(remove, [id, ownerOf(call.actor)])
    if (rows[0] === undefined) throw noSuchWebhook()
    await writeAudit(sql, call, { action: 'webhook.delete', target: webhookTarget(id), detail: {} })
    return rows[0]
  })
  await dropVoid(vault.pool, receiverOf(id))
  // Nothing is signed with them any more, also when this is not reached.
  await forgetSecrets(vault, call, { holder: ofWebhook(id), no })
}
