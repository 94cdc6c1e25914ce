import type { Pool } from '@toolyard/db/pool'
import { changeCatalog } from './change-catalog.ts'

export type KeepRule = {
  engineId: string
  /** How many versions of a tool can be gone back to. */
  versionsKept: number
  /** How long a version that nothing names any more, or a removed tool's, keeps its image. */
  graceSeconds: number
}

const old = `
  select image.hash
  from images as image
  join tools on tools.name = image.tool
  where image.engine_id = $1
    and image.changed_at < now() - make_interval(secs => $3)
    and case
      when tools.removed_at is not null then tools.removed_at < now() - make_interval(secs => $3)
      when image.hash in (tools.wanted_hash, tools.current_hash) then false
      -- what failed, or was not begun before the folder moved on: nobody can go back to it
      when image.state <> 'ready' then true
      else $2 <= (
        select count(*)
        from tool_versions as newer
        where newer.tool = image.tool and newer.served_at > coalesce((
          select served_at from tool_versions where tool = image.tool and hash = image.hash
        ), '-infinity'))
    end`

/** Forgets the images that nothing needs. The engine's own are removed after that: see `sweep-images.ts`. */
export async function dropOldImages(pool: Pool, rule: KeepRule): Promise<number> {
  const values = [rule.engineId, rule.versionsKept, rule.graceSeconds]
  const found = await pool.query(`${old} limit 1`, values)
  if (found.rowCount === 0) return 0
  return changeCatalog(pool, async (sql) => {
    const dropped = await sql.query(
      `delete from images where engine_id = $1 and hash in (${old} limit 1000)`,
      values,
    )
    return dropped.rowCount ?? 0
  })
}
