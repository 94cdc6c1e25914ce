import type { MasterKeys } from './master-key.ts'
import { VaultError } from './vault-error.ts'

// As long as a key that is nowhere on this host costs no second look.
const againAfterMs = 5_000

export type Keyring = {
  masterKeys(): MasterKeys
  /** Whether the key is there, if need be after the list was read again. */
  seek: (id: string) => Promise<boolean>
}

export type KeyringOptions = {
  first: MasterKeys
  /** The list as it stands now. Undefined: it cannot change for this process. */
  readAgain: (() => MasterKeys) | undefined
  /** Gives what it was given once the database agrees with it. */
  prove: (held: MasterKeys) => Promise<MasterKeys>
  onRefused?: ((error: VaultError) => void) | undefined
  nowMs?: (() => number) | undefined
}

/**
 * The master keys of a process while operators rotate them. A list that was read again replaces the one before only
 * when it has the key that is sought and passes for a start; else the process goes on with what it has.
 */
export function createKeyring(options: KeyringOptions): Keyring {
  const { first, readAgain, prove, onRefused, nowMs = () => performance.now() } = options
  let held = first
  // Not more than there are master keys in the database.
  const missedAtMs = new Map<string, number>()
  let turn: Promise<unknown> = Promise.resolve()

  async function look(id: string, read: () => MasterKeys): Promise<boolean> {
    if (held.byId.has(id)) return true
    if (nowMs() - (missedAtMs.get(id) ?? -Infinity) < againAfterMs) return false
    missedAtMs.set(id, nowMs())
    try {
      const now = read()
      if (!now.byId.has(id)) return false
      held = await prove(now)
      missedAtMs.delete(id)
      return true
    } catch (error) {
      if (!(error instanceof VaultError)) {
        missedAtMs.delete(id)
        throw error
      }
      onRefused?.(error)
      return false
    }
  }

  return {
    masterKeys: () => held,
    async seek(id) {
      if (readAgain === undefined) return held.byId.has(id)
      // One after the other, so that all who miss a key at once share one look.
      const mine = turn.then(() => look(id, readAgain))
      turn = mine.catch(() => {})
      return mine
    },
  }
}
