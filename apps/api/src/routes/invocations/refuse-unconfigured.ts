import type { Manifest } from '@toolyard/contract/manifest'
import type { Pool } from '@toolyard/db/pool'
import { findUnconfigured } from '@toolyard/vault/find-unconfigured'

/** What lacks a setting could only fail (I8). */
export async function refuseUnconfigured(pool: Pool, tool: string, manifest: Manifest): Promise<void> {
  const refusal = await findUnconfigured(pool, tool, manifest.config_schema)
  if (refusal !== undefined) throw refusal
}
