import type { Actor } from '@toolyard/access/actor'
import { requireActorScope } from '@toolyard/access/require-scope'
import type { Sql } from '@toolyard/db/pool'
import { requireTool, unknownTool } from './require-tool.ts'

export type VersionRow = {
  hash: string
  version: string
  found_at: Date
  served_at: Date | null
  is_current: boolean
  is_wanted: boolean
  is_refused: boolean
  /** Engines that have an image of it. */
  image_count: number
}

/** Of a tool; only to these can be gone back, and older ones go in time: see prune-versions.ts. */
export const versionsListedMax = 50

const select = `
  select version.hash, version.version, version.found_at, version.served_at,
    coalesce(version.hash = tools.current_hash, false) as is_current,
    coalesce(version.hash = tools.wanted_hash, false) as is_wanted,
    coalesce(version.hash = tools.refused_hash, false) as is_refused,
    (select count(*)::integer from images
      where images.hash = version.hash and images.state = 'ready') as image_count
  from tool_versions as version
  join tools on tools.name = version.tool and tools.removed_at is null
  where version.tool = $1
  order by version.served_at desc nulls last, version.found_at desc
  limit ${versionsListedMax}`

/** The newest versions of a tool, the one that served last first. */
export async function listVersions(sql: Sql, actor: Actor, name: string): Promise<VersionRow[]> {
  requireActorScope(actor, 'tools:read')
  requireTool(actor, name)
  const found = await sql.query<VersionRow>(select, [name])
  if (found.rows.length === 0) throw unknownTool(name)
  return found.rows
}
