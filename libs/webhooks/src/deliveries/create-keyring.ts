import type { KeyObject } from 'node:crypto'
import type { Vault } from '@toolyard/vault/open-vault'
import { ofCallbacks, ofWebhook, readSigners } from '../endpoints/signing-secrets.ts'
import { parseWebhookSecret } from '../signing/webhook-secret.ts'
import type { Look } from './look.ts'

/** What signs a delivery: newest first, none where none was made. */
export type Keyring = (look: Look) => Promise<readonly KeyObject[]>

const keptMs = 60_000
const keptMax = 1_000

type Kept = { keys: readonly KeyObject[]; untilMs: number }

/**
 * The secrets of those who are told again and again stay for a minute, as objects that show nothing of themselves. None
 * of them is ever out of date: a new secret has a new number, and which number signs is looked up for every try.
 */
export function createKeyring(vault: Vault, monotonicMs: () => number = () => performance.now()): Keyring {
  const kept = new Map<string, Kept>()
  return async (look) => {
    const { secret_no: no } = look
    if (no === null) return []
    const holder = look.webhook_id === null ? ofCallbacks(look.key_id) : ofWebhook(look.webhook_id)
    const isOverlapping = look.is_overlapping === true
    const name = `${holder} ${no} ${isOverlapping}`
    const known = kept.get(name)
    if (known !== undefined && known.untilMs > monotonicMs()) return known.keys
    kept.delete(name)
    const { secrets, isNewest } = await readSigners(vault, { holder, no, isOverlapping })
    const keys = secrets.flatMap((secret) => {
      const parsed = parseWebhookSecret(secret)
      return 'key' in parsed ? [parsed.key] : []
    })
    if (!isNewest) return keys
    if (kept.size >= keptMax) kept.clear()
    kept.set(name, { keys, untilMs: monotonicMs() + keptMs })
    return keys
  }
}
