import { randomBytes } from 'node:crypto'
import { AppError } from '@toolyard/contract/errors'
import type { MasterKey, MasterKeys } from './master-key.ts'
import type { SealContext } from './seal.ts'
import { seal, unseal } from './seal.ts'

/** A tool's data key as the database has it. */
export type WrappedDataKey = { tool: string; master_key_id: string; wrapped: Buffer }

/** A master key that is not among those of this process. */
export class UnknownMasterKey extends AppError {
  readonly masterKeyId: string

  constructor(masterKeyId: string, tool: string) {
    super(
      'secrets_unavailable',
      `The settings of ${tool} are under the master key ${masterKeyId}, which this process does not have`,
    )
    this.masterKeyId = masterKeyId
  }
}

/** 256 random bits. Its holder zeroes it. */
export const newDataKey = (): Buffer => randomBytes(32)

export function wrapDataKey(masterKey: MasterKey, tool: string, dataKey: Buffer): WrappedDataKey {
  const wrapped = seal(masterKey.wrapping, dataKey, contextOf(masterKey.id, tool))
  return { tool, master_key_id: masterKey.id, wrapped }
}

/** The data key, which its holder zeroes. */
export function unwrapDataKey(masterKeys: MasterKeys, row: WrappedDataKey): Buffer {
  const masterKey = masterKeys.byId.get(row.master_key_id)
  if (masterKey === undefined) {
    throw new UnknownMasterKey(row.master_key_id, row.tool)
  }
  const opened = unseal(masterKey.wrapping, row.wrapped, contextOf(row.master_key_id, row.tool))
  if ('plaintext' in opened) return opened.plaintext
  throw new AppError(
    'secrets_unavailable',
    `The key of the settings of ${row.tool} cannot be read (${opened.fault}): it was changed in the database. Delete them and set them again`,
  )
}

const contextOf = (masterKeyId: string, tool: string): SealContext => ['data key', masterKeyId, tool]
