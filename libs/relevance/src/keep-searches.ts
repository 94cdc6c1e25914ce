import type { AccessKey } from '@toolyard/access/access-key'
import { newPrefixedId } from '@toolyard/contract/ids'
import type { Pool } from '@toolyard/db/pool'
import type { KeptSearch } from './rows/keep-search.ts'
import { keepSearch } from './rows/keep-search.ts'
import { trimSearches } from './rows/trim-searches.ts'

/** So many of a key may be too many before it is looked at, in each process. */
const trimmedEvery = 100
const keysMax = 10_000

/** Keeps what was searched for, where anything may come of it. Answers the id by which calls say what led to them. */
export function keepSearches(pool: Pool) {
  const counts = new Map<string, number>()

  const isDue = (keyId: string): boolean => {
    const count = counts.get(keyId) ?? 0
    counts.delete(keyId)
    counts.set(keyId, (count + 1) % trimmedEvery)
    const [oldest] = counts.keys()
    if (counts.size > keysMax && oldest !== undefined) counts.delete(oldest)
    return count === 0
  }

  return async (key: AccessKey, search: Omit<KeptSearch, 'keyId'>): Promise<string> => {
    // Who may call nothing teaches nothing.
    if (!key.scopes.includes('tools:invoke')) return newPrefixedId('srch')
    const id = await keepSearch(pool, { ...search, keyId: key.id })
    if (isDue(key.id)) await trimSearches(pool, key.id)
    return id
  }
}
