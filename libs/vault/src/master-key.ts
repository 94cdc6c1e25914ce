import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { createSecretKey, hkdfSync } from 'node:crypto'
import type { SecretKey } from '@toolyard/config/secret-keys'
import { readSecretKeys } from '@toolyard/config/secret-keys'
import { VaultError } from './vault-error.ts'

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

/** Throws a VaultError that names where the list is from and nothing that stands in it. */
export function parseMasterKeys(list: string, from: string): MasterKeys {
  const read = readSecretKeys(list)
  if ('faults' in read) throw new VaultError(`${from}: ${read.faults.join('; ')}`)
  const [first, ...rest] = read.keys
  assert(first, 'a list without an entry has a fault')
  return toMasterKeys([first, ...rest])
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
