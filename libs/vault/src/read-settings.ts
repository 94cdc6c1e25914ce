import type { Vault } from './open-vault.ts'
import type { Scalar } from './setting.ts'
import type { SettingsSchema } from './settings-schema.ts'
import { effectiveSettings, isSecret } from './settings-schema.ts'
import { storedSettings } from './stored-settings.ts'

export type ToolSettings = {
  /** What the tool is given. */
  settings: Record<string, Scalar>
  /** Every stored secret of the tool as text, also of keys that its schema no longer names: what must not come back. */
  secrets: string[]
}

/** For the worker: in clear. One query and well under a millisecond of work, so nothing is cached and nothing stale. */
export async function readSettings(
  vault: Vault,
  tool: string,
  schema: SettingsSchema,
): Promise<ToolSettings> {
  if (Object.keys(schema).length === 0) return { settings: {}, secrets: [] }
  const stored = await storedSettings(vault, tool)
  const secrets = stored.filter((setting) => isSecret(schema, setting)).map(({ value }) => String(value))
  return {
    settings: effectiveSettings(schema, new Map(stored.map(({ key, value }) => [key, value]))),
    secrets: [...new Set(secrets)].filter((secret) => secret !== ''),
  }
}
