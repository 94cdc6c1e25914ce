import type { Sql } from '@toolyard/db/pool'

export type BuildRow = { tool: string; hash: string; failures: number }

// "building" too: whoever began it holds no lock any more, or this would not be asked.
const begin = `
  update images as image
  set state = 'building', progress = null, changed_at = now()
  from tools
  where image.hash = $1 and image.engine_id = $2 and image.state in ('wanted', 'building')
    and tools.name = image.tool and tools.wanted_hash = image.hash and tools.removed_at is null
  returning image.tool, image.hash, image.failures`

/**
 * Under the lock of this engine and version. Undefined where there is nothing to build: it has been built, it was
 * refused, or the folder has moved on.
 */
export async function beginBuild(sql: Sql, hash: string, engineId: string): Promise<BuildRow | undefined> {
  const begun = await sql.query<BuildRow>(begin, [hash, engineId])
  return begun.rows[0]
}

/** Shown while it lasts. No epoch moves: a list that is a line behind is not wrong. */
export async function recordProgress(
  sql: Sql,
  { hash, engineId, line }: { hash: string; engineId: string; line: string },
): Promise<void> {
  await sql.query(
    "update images set progress = $3 where hash = $1 and engine_id = $2 and state = 'building'",
    [hash, engineId, line],
  )
}
