import type { SettingSchema } from '@toolyard/contract/manifest'
import type { Scalar, StoredSetting } from './setting.ts'

/** A manifest's `config_schema`, as far as it matters here. */
export type SettingsSchema = Readonly<Record<string, Pick<SettingSchema, 'secret' | 'required' | 'default'>>>

/** The schema's defaults overlaid with what is stored: what the tool is given. Other stored keys are left out. */
export function effectiveSettings(
  schema: SettingsSchema,
  stored: ReadonlyMap<string, Scalar>,
): Record<string, Scalar> {
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, rule]): [string, Scalar][] => {
      const own = stored.get(key)
      // Where something is required, nothing between the quotation marks is not something.
      const value = own === '' && rule.required ? rule.default : (own ?? rule.default)
      return value === undefined ? [] : [[key, value]]
    }),
  )
}

/** The required keys that have neither a default nor a value that is more than an empty string. */
export function missingAmong(schema: SettingsSchema, filled: ReadonlySet<string>): string[] {
  return Object.entries(schema)
    .filter(([key, rule]) => rule.required && rule.default === undefined && !filled.has(key))
    .map(([key]) => key)
}

/**
 * Once stored as a secret, always one, until it is stored anew: who can change a manifest cannot thereby read. What no
 * schema speaks of any more may have been one.
 */
export const isSecret = (schema: SettingsSchema, { key, secret }: Pick<StoredSetting, 'key' | 'secret'>) =>
  secret || !Object.hasOwn(schema, key) || schema[key]?.secret !== false
