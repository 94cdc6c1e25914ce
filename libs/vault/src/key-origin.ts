import { realpathSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { ConfigError } from '@toolyard/config/load'
import type { Secret } from '@toolyard/config/secret'
import type { KeySource } from './judge-master-keys.ts'
import { mayStartAfresh, missingKeyFile } from './judge-master-keys.ts'
import { keyFile, makeKeyFile, readKeyFile } from './key-file.ts'
import type { KnownMasterKey } from './known-master-keys.ts'
import { VaultError } from './vault-error.ts'

export type KeyOrigin = {
  source: KeySource
  /** The list as a process finds it at its start, made where it may be. */
  read: (known: readonly KnownMasterKey[]) => string
  /** The list as it stands now; undefined where it cannot change for this process. */
  readAgain: (() => string) | undefined
}

export type KeyPlaces = {
  /** YARD_SECRET_KEYS. Unset: the key file in `dataDir`, made while the vault is empty. */
  secretKeys?: Secret | undefined
  dataDir: string
}

/** Where this host's master keys come from. */
export function keyOrigin({ secretKeys, dataDir }: KeyPlaces): KeyOrigin {
  return secretKeys === undefined ? fileOrigin(dataDir) : settingOrigin(secretKeys)
}

function settingOrigin(secretKeys: Secret): KeyOrigin {
  const { readAgain } = secretKeys
  return {
    source: { name: readAgain === undefined ? 'YARD_SECRET_KEYS' : 'YARD_SECRET_KEYS_FILE', place: null },
    read: () => secretKeys.reveal(),
    readAgain: readAgain && (() => revealAgain(readAgain)),
  }
}

function revealAgain(readAgain: () => Secret): string {
  try {
    return readAgain().reveal()
  } catch (error) {
    throw error instanceof ConfigError ? new VaultError(error.message) : error
  }
}

function fileOrigin(dataDir: string): KeyOrigin {
  const path = keyFile(resolve(dataDir))
  const place = placeOf(dataDir)
  const source = { name: path, place }
  return {
    source,
    read(known) {
      const text = readKeyFile(path)
      if (text !== undefined) return text
      if (mayStartAfresh(known, place)) return makeKeyFile(path)
      throw missingKeyFile(known, source)
    },
    readAgain() {
      const text = readKeyFile(path)
      if (text === undefined)
        throw new VaultError(`${path}, the file of the master keys, is gone: put it back`)
      return text
    },
  }
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
