import type Docker from 'dockerode'
import { EngineError, callEngine } from './engine-error.ts'
import { readIdentity } from './image-labels.ts'

export type ImageRemoval =
  | { kind: 'removed' }
  | { kind: 'gone' }
  /** A container is made of it, or another image; to be tried again. */
  | { kind: 'in_use' }
  /** Not an image of a tool of this instance, or somebody gave it a name of his own. */
  | { kind: 'not_ours' }

const callTimeoutMs = 60_000
/** Names that we give. What goes by any other is in somebody else's use, whatever labels it inherited from ours. */
const ownName = /^toolyard\/.+/

/** Removes a tool's image with all our names for it, and the layers that nothing else is made of. */
export async function removeToolImage(
  docker: Docker,
  { id, instance }: { id: string; instance: string },
): Promise<ImageRemoval> {
  try {
    const { RepoTags, Config } = await inspect(docker, id)
    const names = RepoTags ?? []
    const isOurs = readIdentity(Config.Labels ?? {}, instance) !== undefined
    if (!isOurs || !names.every((name) => ownName.test(name))) return { kind: 'not_ours' }
    // The last name goes together with the image, and only if nothing uses it: an image in use keeps one.
    for (const name of names.slice(1)) await removeName(docker, name, id)
    await callEngine(callTimeoutMs, (abortSignal) => docker.getImage(names[0] ?? id).remove({ abortSignal }))
    return { kind: 'removed' }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (error.status === 404) return { kind: 'gone' }
    if (error.status === 409) return { kind: 'in_use' }
    throw error
  }
}

const inspect = (docker: Docker, name: string) =>
  callEngine(callTimeoutMs, () => docker.getImage(name).inspect())

// A name may have moved to a newer image since it was read.
async function removeName(docker: Docker, name: string, id: string): Promise<void> {
  if ((await inspect(docker, name)).Id !== id) return
  await callEngine(callTimeoutMs, (abortSignal) => docker.getImage(name).remove({ abortSignal }))
}
