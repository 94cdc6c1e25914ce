import type { Engine } from '@toolyard/sandbox/open-engine'
import { tagImage } from '@toolyard/sandbox/tag-image'
import { servedImageName } from './image-names.ts'

/** Moves `toolyard/<tool>:<version>` to the version that serves, so that it can be tried with `docker run`. */
export async function nameServedImage(
  engine: Engine,
  { tool, version, imageId }: { tool: string; version: string; imageId: string },
): Promise<void> {
  await tagImage(engine, imageId, servedImageName(tool, version))
}
