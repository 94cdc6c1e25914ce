import { AppError } from '@toolyard/contract/errors'
import type { Sql } from '@toolyard/db/pool'
import { missingKeys } from './missing-keys.ts'
import type { SettingsSchema } from './settings-schema.ts'

/** The refusal of a call of this tool, which lacks settings and could only fail (I8). */
export async function findUnconfigured(
  sql: Sql,
  tool: string,
  schema: SettingsSchema,
): Promise<AppError | undefined> {
  const missing = await missingKeys(sql, tool, schema)
  if (missing.length === 0) return undefined
  return new AppError('not_configured', `${tool} lacks settings: ${missing.join(', ')}`, {
    faults: missing.map((key) => ({
      pointer: `/config/${key}`,
      detail: `PUT /tools/${tool}/config must store it`,
    })),
  })
}
