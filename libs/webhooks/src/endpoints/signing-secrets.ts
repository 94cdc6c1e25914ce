import type { Call } from '@toolyard/access/actor'
import { deleteSetting } from '@toolyard/vault/delete-setting'
import type { Vault } from '@toolyard/vault/open-vault'
import { putSettings } from '@toolyard/vault/put-settings'
import { readSecrets } from '@toolyard/vault/read-secrets'
import { newWebhookSecret } from '../signing/webhook-secret.ts'

// The secrets that sign lie in the vault beside the settings of tools, under names that no tool can have. Each has a
// number, which its holder's row gave out: two who rotate at once get two numbers, and neither overwrites the other's.

export const ofWebhook = (id: string) => `webhook:${id}`
export const ofCallbacks = (keyId: string) => `callbacks:${keyId}`

/** How long the secrets before sign as well. */
export const overlap = "interval '24 hours'"

/** Whoever rotates twice in a row, as after an answer that was lost, keeps the secret that his receiver knows. */
const signersMax = 3
// A number whose secret never came, because the vault could not be reached, must not leave its holder without one.
const lookedBackMax = 10

export type SigningSecrets = { holder: string; no: number }

/** Makes and keeps the secret of this number. It is shown to its owner now, and to nobody afterwards. */
export async function makeSecret(vault: Vault, call: Call, { holder, no }: SigningSecrets): Promise<string> {
  const fresh = newWebhookSecret()
  const schema = { [nameOf(no)]: { secret: true, required: false } }
  const values = { [nameOf(no)]: fresh }
  await putSettings(vault, call, { tool: holder, target: holder, schema, values })
  return fresh
}

export type Signers = {
  /** Newest first; none where none was made. */
  secrets: string[]
  /** Whether the first of them is that of this number: else it may still come. */
  isNewest: boolean
}

export async function readSigners(
  vault: Vault,
  { holder, no, isOverlapping }: SigningSecrets & { isOverlapping: boolean },
): Promise<Signers> {
  const newest = await readSecrets(vault, holder, [nameOf(no)])
  const isNewest = newest.length === 1
  if (isNewest && !isOverlapping) return { secrets: newest, isNewest }
  const older = await readSecrets(vault, holder, namesBefore(no, lookedBackMax))
  return { secrets: [...newest, ...older].slice(0, isOverlapping ? signersMax : 1), isNewest }
}

/** Once there is a newer one: what can sign nothing any more. */
export async function forgetOldest(vault: Vault, call: Call, { holder, no }: SigningSecrets): Promise<void> {
  await forget(vault, call, holder, namesBefore(no - signersMax + 1, 1))
}

export async function forgetSecrets(vault: Vault, call: Call, { holder, no }: SigningSecrets): Promise<void> {
  await forget(vault, call, holder, namesBefore(no + 1, lookedBackMax))
}

async function forget(vault: Vault, call: Call, holder: string, keys: string[]): Promise<void> {
  for (const key of keys) await deleteSetting(vault.pool, call, { tool: holder, target: holder, key })
}

const nameOf = (no: number) => `secret_${no}`

/** From the one before `end` down, at most so many. */
const namesBefore = (end: number, countMax: number) =>
  Array.from({ length: Math.max(0, Math.min(countMax, end - 1)) }, (_, back) => nameOf(end - 1 - back))
