import { realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Secret } from '@toolyard/config/secret'
import { readSecretKeys } from '@toolyard/config/secret-keys'
import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import type { KeySource } from './judge-master-keys.ts'
import { judgeMasterKeys, mayStartAfresh, missingKeyFile } from './judge-master-keys.ts'
import { keyFile, makeKeyFile, readKeyFile } from './key-file.ts'
import type { KnownMasterKey } from './known-master-keys.ts'
import { admit, lockKnownMasterKeys } from './known-master-keys.ts'
import type { MasterKeys } from './master-key.ts'
import { toMasterKeys } from './master-key.ts'
import { VaultError } from './vault-error.ts'

export type Vault = { readonly pool: Pool; readonly masterKeys: MasterKeys }

export type VaultOptions = {
  pool: Pool
  /** YARD_SECRET_KEYS. Unset: the key file in `dataDir`, made while the vault is empty. */
  secretKeys?: Secret | undefined
  dataDir: string
}

/**
 * Finds this host's master keys and proves them against the database, in one transaction that one process at a time
 * can be in: first starts on one host agree on one key file, and a second host that lacks it is told so.
 * Throws a VaultError, with the mend, where the process must not start.
 */
export async function openVault({ pool, secretKeys, dataDir }: VaultOptions): Promise<Vault> {
  const path = keyFile(resolve(dataDir))
  const masterKeys = await transaction(pool, async (sql) => {
    const known = await lockKnownMasterKeys(sql)
    const source: KeySource =
      secretKeys === undefined
        ? { name: path, place: placeOf(dataDir) }
        : { name: 'YARD_SECRET_KEYS', place: null }
    const text = secretKeys?.reveal() ?? textOfFile(path, known, source)
    const held = parse(text, source)
    await admit(sql, { ...judgeMasterKeys(held, known, source), madeOn: source.place })
    return held
  })
  return { pool, masterKeys }
}

function textOfFile(path: string, known: KnownMasterKey[], source: KeySource): string {
  const text = readKeyFile(path)
  if (text !== undefined) return text
  if (source.place !== null && mayStartAfresh(known, source.place)) return makeKeyFile(path)
  throw missingKeyFile(known, source)
}

function parse(text: string, source: KeySource): MasterKeys {
  const read = readSecretKeys(text)
  if ('faults' in read) throw new VaultError(`${source.name}: ${read.faults.join('; ')}`)
  const [first, ...rest] = read.keys
  if (first === undefined) throw new VaultError(`${source.name}: must have an entry, as id:key`)
  return toMasterKeys([first, ...rest])
}

function placeOf(dataDir: string): string {
  try {
    return `${hostname()}:${realpathSync(dataDir)}`
  } catch {
    throw new VaultError(
      `${resolve(dataDir)}, the data directory, cannot be found: make it for the file of the master keys, or set YARD_SECRET_KEYS`,
    )
  }
}
