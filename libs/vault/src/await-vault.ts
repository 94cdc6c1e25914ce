import type { Logger } from '@toolyard/log/logger'
import { awaitOpening } from '@toolyard/service/await-opening'
import type { Vault, VaultOptions } from './open-vault.ts'
import { openVault } from './open-vault.ts'
import { VaultError } from './vault-error.ts'

export type AwaitVaultOptions = VaultOptions & {
  schemaFits: Promise<void>
  stop: AbortSignal
  log: Pick<Logger, 'warn'>
}

/** For a process at its start: waits for the database, and gives up at once where this host's keys do not fit. */
export async function awaitVault({ schemaFits, stop, log, ...options }: AwaitVaultOptions): Promise<Vault> {
  await schemaFits
  const onRefused = (error: VaultError) =>
    log.warn('the master keys were read again and cannot be used', { error })
  return awaitOpening(() => openVault({ onRefused, ...options }), {
    signal: stop,
    isFinal: (error) => error instanceof VaultError,
    onFailure: (error) => log.warn('the vault cannot be opened yet', { error }),
  })
}
