import type { AccessKey } from '@toolyard/access/access-key'
import { mayUseTool } from '@toolyard/access/key-bindings'
import type { CatalogView } from '@toolyard/catalog/create-catalog'
import type { Manifest } from '@toolyard/contract/manifest'
import type { SearchBody } from '@toolyard/contract/search'
import type { ToolStatus } from '@toolyard/contract/tools'
import { statusOf } from '@toolyard/vault/status-of'

export type Candidate = { manifest: Manifest; status: ToolStatus }

export type Filters = Pick<SearchBody, 'category' | 'status' | 'trigger'>

/** The tools that a search may find: those of the key that are switched on and, where nothing is said, can be called. */
export function findCandidates(
  {
    view,
    key,
    stored,
  }: { view: CatalogView; key: AccessKey; stored: ReadonlyMap<string, ReadonlySet<string>> },
  { category, status: wanted, trigger = 'on_demand' }: Filters,
): Map<string, Candidate> {
  const candidates = new Map<string, Candidate>()
  for (const { name, enabled, manifest } of view.tools) {
    if (manifest === undefined || !enabled || !mayUseTool(key, name)) continue
    if (manifest.trigger.type !== trigger) continue
    if (category !== undefined && manifest.category !== category) continue
    const status = statusOf(manifest.config_schema, stored.get(name) ?? nothing)
    const fits = wanted === undefined ? status !== 'available' : status === wanted
    if (fits) candidates.set(name, { manifest, status })
  }
  return candidates
}

const nothing: ReadonlySet<string> = new Set()
