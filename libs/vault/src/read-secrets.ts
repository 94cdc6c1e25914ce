import type { Vault } from './open-vault.ts'
import { storedSettings } from './stored-settings.ts'

/**
 * The values of these keys of a tool, in their order, as far as there is one: an empty text is none. Nothing else of
 * the tool is opened, so that a process which needs one secret never holds the others (I6).
 */
export async function readSecrets(vault: Vault, tool: string, keys: readonly string[]): Promise<string[]> {
  const stored = await storedSettings(vault, tool, keys)
  const values = new Map(stored.map(({ key, value }) => [key, String(value)]))
  return keys.flatMap((key) => values.get(key) ?? []).filter((value) => value !== '')
}
