import { UnknownMasterKey } from './data-key.ts'
import type { MasterKeys } from './master-key.ts'
import type { Vault } from './open-vault.ts'

/**
 * Does `work` with the master keys of this process, and once more where it met one that an operator has put into the
 * list since. `work` begins its own transaction: the search for a key waits for those that wrap one.
 */
export async function withMasterKeys<T>(
  vault: Vault,
  work: (masterKeys: MasterKeys) => Promise<T>,
): Promise<T> {
  try {
    return await work(vault.masterKeys)
  } catch (error) {
    if (!(error instanceof UnknownMasterKey) || !(await vault.seekMasterKey(error.masterKeyId))) throw error
    return work(vault.masterKeys)
  }
}
