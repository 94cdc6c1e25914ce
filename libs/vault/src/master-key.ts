import type { KeyObject } from 'node:crypto'
import { createSecretKey, hkdfSync } from 'node:crypto'
import type { SecretKey } from '@toolyard/config/secret-keys'

export type MasterKey = {
  readonly id: string
  /** Wraps data keys. A KeyObject shows nothing of itself when it is printed. */
  readonly wrapping: KeyObject
  /** What only a holder of this key can know, and what tells nothing of it: the database keeps it. */
  readonly proof: Buffer
}

export type MasterKeys = {
  /** Wraps whatever is wrapped anew. */
  readonly current: MasterKey
  readonly byId: ReadonlyMap<string, MasterKey>
}

/** Zeroes the given bytes: what is needed of them is derived. */
export function toMasterKeys(keys: readonly [SecretKey, ...SecretKey[]]): MasterKeys {
  const current = toMasterKey(keys[0])
  const byId = new Map(keys.slice(1).map((key) => [key.id, toMasterKey(key)]))
  return { current, byId: byId.set(current.id, current) }
}

function toMasterKey({ id, bytes }: SecretKey): MasterKey {
  const wrapping = derive(bytes, 'toolyard vault: wrapping')
  const key = {
    id,
    wrapping: createSecretKey(wrapping),
    proof: derive(bytes, `toolyard vault: proof of ${id}`),
  }
  wrapping.fill(0)
  bytes.fill(0)
  return key
}

const derive = (bytes: Buffer, purpose: string) => Buffer.from(hkdfSync('sha256', bytes, '', purpose, 32))
