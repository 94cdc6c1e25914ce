import { defaultDockerHost, probeEngine } from '@toolyard/sandbox/engine'
import { listToolImages } from '@toolyard/sandbox/list-tool-images'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { removeToolImage } from '@toolyard/sandbox/remove-tool-image'
import type { Installation } from '../installation/installation.ts'

/**
 * Removes this installation's images from an engine that is not its own; those of an engine of ours go with its data.
 * Returns how many there were.
 */
export async function removeImages({ id, config }: Installation): Promise<number> {
  const dockerHost = config.dockerHost ?? defaultDockerHost
  if ((await probeEngine(dockerHost)).state !== 'ready') return 0
  const engine = openEngine(dockerHost)
  const images = await listToolImages(engine, id)
  for (const image of images) await removeToolImage(engine, { id: image.id, instance: id })
  return images.length
}
