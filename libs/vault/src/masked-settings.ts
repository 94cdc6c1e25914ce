import type { Vault } from './open-vault.ts'
import type { Scalar } from './setting.ts'
import type { SettingsSchema } from './settings-schema.ts'
import { isSecret } from './settings-schema.ts'
import { storedSettings } from './stored-settings.ts'

/** Stands for a secret in answers; in a PUT it says "what is stored". */
export const mask = '***'

export type MaskedSettings = {
  /** What is stored, by key; secrets, and keys that the schema does not name, as `***`. */
  config: Record<string, Scalar>
  /** The keys of the schema that hold something, in the schema's order: an empty string does not count. */
  set: string[]
}

/** For answers. */
export async function maskedSettings(
  vault: Vault,
  tool: string,
  schema: SettingsSchema,
): Promise<MaskedSettings> {
  const stored = await storedSettings(vault, tool)
  const filled = new Set(stored.filter(({ value }) => value !== '').map(({ key }) => key))
  return {
    config: Object.fromEntries(
      stored.map((setting) => [setting.key, isSecret(schema, setting) ? mask : setting.value]),
    ),
    set: Object.keys(schema).filter((key) => filled.has(key)),
  }
}
