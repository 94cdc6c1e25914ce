import type { Sql } from '@toolyard/db/pool'

export type ServedImage = {
  tool: string
  /** The author's word for what serves. */
  version: string
  imageId: string
  madeAt: Date
}

const select = `
  select tools.name as tool, version.version, image.image_id as "imageId", image.changed_at as "madeAt"
  from tools
  join tool_versions as version on version.tool = tools.name and version.hash = tools.current_hash
  join images as image on image.hash = tools.current_hash and image.engine_id = $1 and image.state = 'ready'
  where tools.removed_at is null
  limit 10000`

/** The images on this engine of the versions that serve. */
export async function listServed(sql: Sql, engineId: string): Promise<ServedImage[]> {
  return (await sql.query<ServedImage>(select, [engineId])).rows
}
