import type { KeyObject } from 'node:crypto'
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

// AES-256-GCM. A sealed text is: version (1 byte), nonce (12), tag (16), ciphertext.

const algorithm = 'aes-256-gcm'
const version = 1
const nonceBytes = 12
const tagBytes = 16
const headBytes = 1 + nonceBytes + tagBytes

/** What a text belongs to. It opens only where all of this is the same. */
export type SealContext = readonly [purpose: string, ...rest: (string | boolean)[]]

export function seal(key: KeyObject | Buffer, plaintext: Buffer, context: SealContext): Buffer {
  // Random nonces may meet after 2^32 texts under one key; no key of ours gets near that.
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(associatedData(context))
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([Buffer.of(version), nonce, cipher.getAuthTag(), ciphertext])
}

/** The text, or why there is none: another release's, or not what was sealed with this key in this context. */
export function unseal(
  key: KeyObject | Buffer,
  sealed: Buffer,
  context: SealContext,
): { plaintext: Buffer } | { fault: 'unknown version' | 'not authentic' } {
  if (sealed.length > 0 && sealed[0] !== version) return { fault: 'unknown version' }
  if (sealed.length < headBytes) return { fault: 'not authentic' }
  const nonce = sealed.subarray(1, 1 + nonceBytes)
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(associatedData(context))
  decipher.setAuthTag(sealed.subarray(1 + nonceBytes, headBytes))
  const unproven = decipher.update(sealed.subarray(headBytes))
  try {
    return { plaintext: Buffer.concat([unproven, decipher.final()]) }
  } catch {
    // The one thing that `final` throws for; its message tells no more.
    return { fault: 'not authentic' }
  } finally {
    unproven.fill(0)
  }
}

// As JSON, because no two lists have the same: ["a","bc"] is not ["ab","c"].
const associatedData = (context: SealContext) =>
  Buffer.from(JSON.stringify(['toolyard vault', version, ...context]))
