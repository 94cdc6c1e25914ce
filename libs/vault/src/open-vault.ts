import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { createKeyring } from './create-keyring.ts'
import type { KeySource } from './judge-master-keys.ts'
import { judgeMasterKeys } from './judge-master-keys.ts'
import type { KeyPlaces } from './key-origin.ts'
import { keyOrigin } from './key-origin.ts'
import type { KnownMasterKey } from './known-master-keys.ts'
import { admit, lockKnownMasterKeys } from './known-master-keys.ts'
import type { MasterKeys } from './master-key.ts'
import { parseMasterKeys } from './master-key.ts'
import type { VaultError } from './vault-error.ts'

export type Vault = {
  readonly pool: Pool
  /** Those of this moment: `seekMasterKey` may replace them. */
  readonly masterKeys: MasterKeys
  /** For a master key that this process lacks: reads its list again. Whether the key is there now. */
  readonly seekMasterKey: (id: string) => Promise<boolean>
}

export type VaultOptions = KeyPlaces & {
  pool: Pool
  /** Told why a list that was read again cannot be used. The process goes on with the keys that it has. */
  onRefused?: (error: VaultError) => void
  nowMs?: () => number
}

/**
 * Finds this host's master keys and proves them against the database, in one transaction that one process at a time
 * can be in: first starts on one host agree on one key file, and a second host that lacks it is told so.
 * Throws a VaultError, with the mend, where the process must not start.
 */
export async function openVault({ pool, onRefused, nowMs, ...places }: VaultOptions): Promise<Vault> {
  const { source, read, readAgain } = keyOrigin(places)
  const parse = (text: string) => parseMasterKeys(text, source.name)
  const keyring = createKeyring({
    first: await prove(pool, source, (known) => parse(read(known))),
    readAgain: readAgain && (() => parse(readAgain())),
    prove: (held) => prove(pool, source, () => held),
    onRefused,
    nowMs,
  })
  return {
    pool,
    get masterKeys() {
      return keyring.masterKeys()
    },
    seekMasterKey: keyring.seek,
  }
}

function prove(
  pool: Pool,
  source: KeySource,
  hold: (known: KnownMasterKey[]) => MasterKeys,
): Promise<MasterKeys> {
  return transaction(pool, async (sql) => {
    const known = await lockKnownMasterKeys(sql)
    const held = hold(known)
    await admit(sql, { ...judgeMasterKeys(held, known, source), madeOn: source.place })
    return held
  })
}
