import type { CatalogView } from '@toolyard/catalog/create-catalog'
import { unknownTool } from '@toolyard/catalog/require-tool'
import { AppError } from '@toolyard/contract/errors'
import type { Manifest } from '@toolyard/contract/manifest'

/** The manifest that serves, or is to serve first. A folder that is no tool yet is refused with its faults. */
export function findManifest(
  view: CatalogView,
  name: string,
): { manifest: Manifest; manifestHash: string | undefined } {
  const tool = view.byName.get(name)
  if (tool === undefined) throw unknownTool(name)
  if (tool.manifest === undefined)
    throw new AppError('image_failed', `${name} has no manifest that can be read: ${tool.faults.join('; ')}`)
  return { manifest: tool.manifest, manifestHash: tool.manifestHash }
}
