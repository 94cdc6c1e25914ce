import { dropOldImages } from '@toolyard/catalog/drop-old-images'
import { listImages } from '@toolyard/catalog/list-images'
import { noteLostImages } from '@toolyard/catalog/note-lost-images'
import type { Pool } from '@toolyard/db/pool'
import type { Logger } from '@toolyard/log/logger'
import { listToolImages } from '@toolyard/sandbox/list-tool-images'
import type { openEngine } from '@toolyard/sandbox/open-engine'
import { removeToolImage } from '@toolyard/sandbox/remove-tool-image'

export type ImageSweep = {
  pool: Pool
  log: Logger
  docker: ReturnType<typeof openEngine>
  instance: string
  engineId: string
}

const versionsKept = 3
const graceSeconds = 86_400

/**
 * Brings the rows and the engine together: images that somebody removed are wanted again, old ones lose their rows,
 * and what has no row loses its image. Containers that still run keep theirs until the next sweep.
 */
export async function sweepImages({ pool, log, docker, instance, engineId }: ImageSweep): Promise<void> {
  const present = await listToolImages(docker, instance)
  const lost = await noteLostImages(
    pool,
    engineId,
    present.map(({ id }) => id),
  )
  if (lost.length > 0) log.warn('images of tools are gone from the engine: they are built again', { lost })
  await dropOldImages(pool, { engineId, versionsKept, graceSeconds })
  // Read after the images: a row is written before its image is made, so one that has none is nobody's. While a row
  // has no image yet, whatever is there of its version may be what is just being finished.
  const rows = new Map((await listImages(pool, engineId)).map((row) => [row.hash, row]))
  for (const { id, tool, hash } of present) {
    const row = rows.get(hash)
    if (row !== undefined && (row.imageId === null || row.imageId === id)) continue
    const { kind } = await removeToolImage(docker, { id, instance })
    if (kind === 'removed') log.info('an image that nothing needs was removed', { tool, hash })
  }
}
