import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import type { AccessKey, AccessKeyRow } from './access-key.ts'
import { toAccessKey } from './access-key.ts'
import { queryWithin } from './query-within.ts'

// One snapshot for both tables: the epoch says exactly how old this knowledge of the key is.
const select = `
  select key.id, key.name, key.scopes, key.topics, key.tools, key.created_at, key.expires_at, key.revoked_at,
    key.secret_hash, key.secret_check, epoch.epoch,
    key.revoked_at is null and (key.expires_at is null or key.expires_at > now()) as is_usable
  from api_keys as key
  cross join access_epoch as epoch
  where key.id = $1`

// Longer than any healthy database takes, short enough to answer while the caller still listens, and under the 2 s
// for which a yes may live.
const lookupLimitMs = 1_500

export type KeySecret = {
  key: AccessKey
  /** Neither revoked nor expired, by the database's clock. */
  isUsable: boolean
  secretHash: string
  secretCheck: Buffer
  epoch: string
}

type Row = AccessKeyRow & { secret_hash: string; secret_check: Buffer; epoch: string; is_usable: boolean }

/** What the database holds of a key at this moment, or `store_unavailable` when it cannot say (I9). */
export async function findKeySecret(pool: Pool, id: string): Promise<KeySecret | undefined> {
  const rows = await queryWithin<Row>(pool, { text: select, values: [id], limitMs: lookupLimitMs }).catch(
    (cause: unknown) => {
      throw new AppError(
        'store_unavailable',
        'The key cannot be checked, because the database does not answer',
        { cause },
      )
    },
  )
  const row = rows[0]
  if (row === undefined) return undefined
  return {
    key: toAccessKey(row),
    isUsable: row.is_usable,
    secretHash: row.secret_hash,
    secretCheck: row.secret_check,
    epoch: row.epoch,
  }
}
