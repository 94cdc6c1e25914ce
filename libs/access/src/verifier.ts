import { hash as digest } from 'node:crypto'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { LRUCache } from 'lru-cache'
import type { AccessKey } from './access-key.ts'
import { createAttemptBudget } from './attempt-budget.ts'
import type { EpochWatch } from './epoch-watch.ts'
import type { KeySecret } from './find-key-secret.ts'
import { findKeySecret } from './find-key-secret.ts'
import { createHashSlots } from './hash-slots.ts'
import type { VerifySecret } from './secret-hash.ts'
import { absentHash, secretCheckMatches, verifySecret } from './secret-hash.ts'
import { createSharedCalls } from './shared-calls.ts'
import type { Token } from './token.ts'
import { parseToken, tokenLength } from './token.ts'

/**
 * Decides whether a presented text is a key that works. Three ways, from cheap to dear:
 *
 * - warm: the text was verified before (remembered by its sha256, never in clear) and the access epoch has not moved
 *   since: no I/O.
 * - known: verified before, but the epoch moved or the watch is not fresh: one select decides, no hashing.
 * - cold: one select. If the row is usable and its 32-bit check fits the secret, the text is a real key but for one
 *   chance in 4 billion, and argon2 confirms it. If not, argon2 runs all the same, on the row's hash or on that of a
 *   key that never was, so that unknown, wrong, revoked and expired take the same time; and the address pays.
 *
 * Attackers can reach argon2 only as payers: each address so many times a minute, all together only when a slot is
 * free. Real keys never pay and may wait for a slot, so nobody's failures shut out a neighbour behind the same
 * address. Every yes rests on a row or an epoch that was read less than 2 s ago; without the database there is none
 * (I9), and everything that is kept has a limit (I8).
 */
export type Verifier = {
  /** Throws AppError `unauthenticated`, `rate_limited` or `store_unavailable`. */
  verify(presented: string | undefined, address: string): Promise<AccessKey>
}

export type VerifierOptions = {
  pool: Pool
  watch: EpochWatch
  /** Wrong keys of one address that are checked in a minute. */
  failuresPerMinute: number
  /** Verified keys that are remembered. */
  cachedMax?: number
  monotonicMs?: () => number
  verifySecret?: VerifySecret
}

const defaultCachedMax = 10_000
// Two take what two cores have. Eight waiters, real keys all of them, are done in about 110 ms more.
const hashLimits = { running: 2, waiting: 8 }
const lookupsMax = 32
// What addresses that have had their minute's worth of failures get together: a real key behind one of them still has
// its turn, and made-up ones cannot take the turns of everybody else.
const lookupsOfSpentMax = 2

type Remembered = Pick<KeySecret, 'key' | 'secretHash' | 'epoch'>

export function createVerifier(options: VerifierOptions): Verifier {
  const { pool, watch, failuresPerMinute, monotonicMs = () => performance.now() } = options
  const runArgon2 = options.verifySecret ?? verifySecret
  const cachedMax = options.cachedMax ?? defaultCachedMax
  const remembered = new LRUCache<string, Remembered>({ max: cachedMax })
  const budget = createAttemptBudget({ perMinute: failuresPerMinute, monotonicMs })
  const slots = createHashSlots(hashLimits)
  const lookups = createSharedCalls<KeySecret | undefined>(lookupsMax)
  const lookupsOfSpent = createSharedCalls<KeySecret | undefined>(lookupsOfSpentMax)
  const rechecks = createSharedCalls<KeySecret | undefined>(cachedMax)
  const confirmations = createSharedCalls<Remembered>(lookupsMax)

  async function verify(presented: string | undefined, address: string): Promise<AccessKey> {
    if (presented === undefined || presented === '') {
      throw new AppError('unauthenticated', 'Send a key, as in "Authorization: Bearer yk_…"')
    }
    if (presented.length !== tokenLength) return refuseUnread(address)
    const fingerprint = digest('sha256', presented, 'base64')
    const known = remembered.get(fingerprint)
    if (known !== undefined) return honour(fingerprint, known)
    const token = parseToken(presented)
    if (token === undefined) return refuseUnread(address)
    const turns = budget.isSpent(address) ? lookupsOfSpent : lookups
    const found = await turns.share(fingerprint, () => findKeySecret(pool, token.id))
    if (found?.isUsable !== true || !secretCheckMatches(found.secretCheck, token.secret)) {
      return refuseWrong(token, found, address)
    }
    return honour(
      fingerprint,
      await confirmations.share(fingerprint, () => confirm(fingerprint, token, found)),
    )
  }

  /** The one place that says yes. */
  async function honour(fingerprint: string, entry: Remembered): Promise<AccessKey> {
    const now = watch.fresh()
    // Not "at least as new": a database restored from a backup may count its epochs from an older one.
    if (now !== undefined && now.epoch === entry.epoch && isUnexpired(entry.key, now.databaseNowMs))
      return entry.key
    const found = await rechecks.share(fingerprint, () => findKeySecret(pool, entry.key.id))
    if (found?.isUsable !== true || found.secretHash !== entry.secretHash) {
      remembered.delete(fingerprint)
      throw wrongKey()
    }
    remembered.set(fingerprint, { key: found.key, secretHash: found.secretHash, epoch: found.epoch })
    return found.key
  }

  async function confirm(fingerprint: string, token: Token, found: KeySecret): Promise<Remembered> {
    const isRight = await slots.runSoon(() => runArgon2(found.secretHash, token.secret))
    if (!isRight) throw wrongKey()
    const entry = { key: found.key, secretHash: found.secretHash, epoch: found.epoch }
    remembered.set(fingerprint, entry)
    return entry
  }

  async function refuseWrong(token: Token, found: KeySecret | undefined, address: string): Promise<never> {
    budget.spend(address)
    await slots.runNow(() => runArgon2(found?.secretHash ?? absentHash, token.secret))
    throw wrongKey()
  }

  function refuseUnread(address: string): never {
    budget.spend(address)
    throw wrongKey()
  }

  return { verify }
}

function isUnexpired(key: AccessKey, databaseNowMs: number): boolean {
  return key.expiresAt === null || key.expiresAt.getTime() > databaseNowMs
}

function wrongKey(): AppError {
  return new AppError('unauthenticated', 'This key is wrong, has expired or was revoked')
}
