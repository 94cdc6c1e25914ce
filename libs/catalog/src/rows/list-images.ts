import type { Sql } from '@toolyard/db/pool'

/** The versions that this engine has, makes or is to make an image of. */
export async function listImages(
  sql: Sql,
  engineId: string,
): Promise<{ hash: string; imageId: string | null }[]> {
  const found = await sql.query<{ hash: string; image_id: string | null }>(
    'select hash, image_id from images where engine_id = $1',
    [engineId],
  )
  return found.rows.map(({ hash, image_id: imageId }) => ({ hash, imageId }))
}
