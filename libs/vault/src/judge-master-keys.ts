import type { KnownMasterKey } from './known-master-keys.ts'
import type { MasterKey, MasterKeys } from './master-key.ts'
import { VaultError } from './vault-error.ts'

/** Where this host has its master keys from. */
export type KeySource = {
  /** For people: the variable, or the path of the file. */
  name: string
  /** Host and folder of the file; null for the variable. */
  place: string | null
}

/**
 * Whether a vault that has no settings may get a new key: nobody knows it yet, or this very host gave it the one that
 * is gone. The key of another host is not replaced: its processes are at work with it.
 */
export function mayStartAfresh(known: readonly KnownMasterKey[], place: string): boolean {
  return known.every((key) => !key.in_use && key.made_on === place)
}

/** Which of this host's keys the database is to learn. Throws where this host lacks what the vault needs. */
export function judgeMasterKeys(
  held: MasterKeys,
  known: readonly KnownMasterKey[],
  source: KeySource,
): { learn: MasterKey[]; afresh: boolean } {
  const all = [...held.byId.values()]
  if (known.length === 0) return { learn: all, afresh: false }
  refuseWrong(held, known, source)
  const hasOne = known.some(({ id }) => held.byId.has(id))
  const lacksNone = known.every(({ id, in_use }) => !in_use || held.byId.has(id))
  if (hasOne && lacksNone)
    return { learn: all.filter(({ id }) => !known.some((key) => key.id === id)), afresh: false }
  if (source.place !== null && mayStartAfresh(known, source.place)) return { learn: all, afresh: true }
  throw new VaultError(mismatch(known, `this host has ${list(all)} (${source.name})`))
}

/** What to tell where this host has no key and must not make one. */
export function missingKeyFile(known: readonly KnownMasterKey[], source: KeySource): VaultError {
  return new VaultError(
    mismatch(known, `this host has none: YARD_SECRET_KEYS is unset and ${source.name} does not exist`),
  )
}

function refuseWrong(held: MasterKeys, known: readonly KnownMasterKey[], source: KeySource): void {
  for (const { id, proof } of known) {
    const mine = held.byId.get(id)
    if (mine === undefined || mine.proof.equals(proof)) continue
    throw new VaultError(
      `The master key ${id} that this host has (${source.name}) is not the ${id} of this vault: put the right one back. A new key needs an id that was never used`,
    )
  }
}

function mismatch(known: readonly KnownMasterKey[], here: string): string {
  const used = known.filter(({ in_use }) => in_use)
  const needed = used.length > 0 ? used : known
  const [keys, are] = needed.length === 1 ? ['master key', 'is'] : ['master keys', 'are']
  const origin = needed.find(({ made_on }) => made_on !== null)?.made_on
  return [
    `This vault's ${keys} ${are} ${list(needed)}; ${here}. Copy the key file`,
    origin === undefined ? '' : ` (made on ${origin})`,
    ' to this data directory, or set YARD_SECRET_KEYS to the same list on every host; a new key joins by standing in one list with an old one',
    used.length > 0
      ? '. Without its key, nobody can read what the vault holds'
      : '. No settings are stored yet: if that key is lost, "delete from vault_master_keys" in the database starts afresh',
  ].join('')
}

const list = (keys: readonly { id: string }[]) => keys.map(({ id }) => id).join(', ')
