import type { AccessKey } from '@toolyard/access/access-key'
import { mayUseTool } from '@toolyard/access/key-bindings'
import type { CatalogView } from '@toolyard/catalog/create-catalog'
import type { Manifest } from '@toolyard/contract/manifest'
import type { Pool } from '@toolyard/db/pool'
import { statusOf } from '@toolyard/vault/status-of'
import { storedKeys } from '@toolyard/vault/stored-keys'

/**
 * The tools that an agent with this key can choose, by name: those that are called on demand, are switched on and lack
 * no setting. Every other call would only be refused, or is the business of a schedule or a sender.
 */
export async function callableTools(
  pool: Pool,
  { view, key }: { view: CatalogView; key: AccessKey },
): Promise<Manifest[]> {
  const stored = await storedKeys(pool)
  return view.tools.flatMap(({ name, enabled, manifest }) => {
    if (manifest === undefined || !enabled || !mayUseTool(key, name)) return []
    if (manifest.trigger.type !== 'on_demand') return []
    return statusOf(manifest.config_schema, stored.get(name) ?? nothing) === 'available' ? [] : [manifest]
  })
}

const nothing: ReadonlySet<string> = new Set()
