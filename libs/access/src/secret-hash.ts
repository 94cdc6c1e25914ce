import { hash as digest, timingSafeEqual } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'

// OWASP's second choice for argon2id: 13 ms and 19 MiB a run on the machine this was measured on.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const saltBytes = 16
const outputBytes = 32
const checkBytes = 4

export type VerifySecret = (secretHash: string, secret: string) => Promise<boolean>

/** argon2id (the library's default algorithm) in the PHC format, which carries its own parameters. */
export function hashSecret(secret: string): Promise<string> {
  return hash(secret, { ...cost, outputLen: outputBytes })
}

export const verifySecret: VerifySecret = (secretHash, secret) => verify(secretHash, secret)

/** Verified in place of a key that does not exist: costs the same run, and no known secret leads to it. */
export const absentHash = [
  '$argon2id$v=19',
  `m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}`,
  unpadded(Buffer.alloc(saltBytes)),
  unpadded(Buffer.alloc(outputBytes)),
].join('$')

/**
 * 32 bits that tell a made-up secret from a probable one at the price of one sha256.
 * A secret has 256 random bits, so whoever reads these still lacks 224; they never say yes, argon2 does.
 */
export function secretCheck(secret: string): Buffer {
  return digest('sha256', secret, 'buffer').subarray(0, checkBytes)
}

export function secretCheckMatches(check: Buffer, secret: string): boolean {
  return check.length === checkBytes && timingSafeEqual(check, secretCheck(secret))
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
