import type { Catalog } from '@toolyard/catalog/create-catalog'
import { unknownTool } from '@toolyard/catalog/require-tool'
import { AppError } from '@toolyard/contract/errors'
import type { Manifest } from '@toolyard/contract/manifest'

/** The manifest that serves, or is to serve first. A folder that is no tool yet is refused with its faults. */
export async function findManifest(catalog: Catalog, name: string): Promise<Manifest> {
  const tool = (await catalog.view()).byName.get(name)
  if (tool === undefined) throw unknownTool(name)
  if (tool.manifest === undefined)
    throw new AppError('image_failed', `${name} has no manifest that can be read: ${tool.faults.join('; ')}`)
  return tool.manifest
}
