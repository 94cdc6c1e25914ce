import type { KeyShape } from '@toolyard/contract/keys'
import type { Scope } from '@toolyard/contract/scopes'
import { scopes } from '@toolyard/contract/scopes'

/** A key as the rest of the product knows it. Nothing secret is part of it, so it may be logged and answered. */
export type AccessKey = {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** null: not bound to topics. */
  readonly topics: readonly string[] | null
  /** null: not bound to tools. */
  readonly tools: readonly string[] | null
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}

export type AccessKeyRow = {
  id: string
  name: string
  scopes: string[]
  topics: string[] | null
  tools: string[] | null
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
}

const knownScopes: ReadonlySet<string> = new Set(scopes)
const isScope = (word: string): word is Scope => knownScopes.has(word)

/** Frozen, because one cached object serves many requests. A scope that this release does not know grants nothing. */
export function toAccessKey(row: AccessKeyRow): AccessKey {
  return Object.freeze({
    id: row.id,
    name: row.name,
    scopes: Object.freeze(row.scopes.filter(isScope)),
    topics: row.topics === null ? null : Object.freeze([...row.topics]),
    tools: row.tools === null ? null : Object.freeze([...row.tools]),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  })
}

export function toKeyShape(key: AccessKey): KeyShape {
  return {
    id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    topics: key.topics === null ? null : [...key.topics],
    tools: key.tools === null ? null : [...key.tools],
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  }
}
