import assert from 'node:assert/strict'
import { AppError } from '@toolyard/contract/errors'
import type { SealContext } from './seal.ts'
import { seal, unseal } from './seal.ts'

/** What a setting can be. All of them are encrypted, secret or not. */
export type Scalar = string | number | boolean

export type StoredSetting = {
  readonly key: string
  /** Whether it was a secret when it was stored. */
  readonly secret: boolean
  readonly value: Scalar
}

export type SealedSetting = { key: string; secret: boolean; sealed: Buffer }

export const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

export function sealSetting(dataKey: Buffer, tool: string, setting: StoredSetting): SealedSetting {
  const { key, secret, value } = setting
  const plaintext = Buffer.from(JSON.stringify(value))
  const sealed = seal(dataKey, plaintext, contextOf(tool, setting))
  plaintext.fill(0)
  return { key, secret, sealed }
}

export function unsealSetting(dataKey: Buffer, tool: string, row: SealedSetting): StoredSetting {
  const opened = unseal(dataKey, row.sealed, contextOf(tool, row))
  if ('fault' in opened) {
    throw new AppError(
      'secrets_unavailable',
      `The setting ${row.key} of ${tool} cannot be read (${opened.fault}): it was changed in the database. Delete it and set it again`,
    )
  }
  const value: unknown = JSON.parse(opened.plaintext.toString())
  opened.plaintext.fill(0)
  assert(isScalar(value), 'only scalars are sealed')
  return { key: row.key, secret: row.secret, value }
}

const contextOf = (tool: string, { key, secret }: { key: string; secret: boolean }): SealContext => [
  'setting',
  tool,
  key,
  secret,
]
