import type { ImageFacts } from '@toolyard/catalog/finish-build'
import type { RunnableImage } from '@toolyard/catalog/to-sandbox-spec'
import type { Manifest } from '@toolyard/contract/manifest'
import { parseManifest } from '@toolyard/contract/parse-manifest'

export type VersionReader = (version: { hash: string; manifest: unknown }) => Manifest | undefined

const keptMax = 500

/**
 * A version's manifest with every default of this release filled in: an older one may have stored it. Read once each,
 * because a version never changes.
 */
export function createVersionReader(): VersionReader {
  const known = new Map<string, Manifest | undefined>()
  return ({ hash, manifest }) => {
    if (known.has(hash)) return known.get(hash)
    const parsed = parseManifest(manifest)
    if (known.size >= keptMax) known.clear()
    const read = 'manifest' in parsed ? parsed.manifest : undefined
    known.set(hash, read)
    return read
  }
}

export function toRunnableImage(id: string, facts: unknown): RunnableImage {
  // safe because `finishBuild` alone writes them, and only for an image that is ready
  const { entrypoint, volumes, user } = facts as Pick<ImageFacts, 'entrypoint' | 'volumes' | 'user'>
  return { id, entrypoint, volumes, ...(user === undefined ? {} : { user }) }
}
