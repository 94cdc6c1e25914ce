import { createHash } from 'node:crypto'

// What the images of tools are called. An invocation runs an image by its id; names are for people and for `FROM`.

const repositoryOf = (tool: string) => `toolyard/${tool}`

/** The name for `docker run`. It moves to the version that serves. */
export const servedImageName = (tool: string, version: string) => `${repositoryOf(tool)}:${version}`

/**
 * The name that keeps a built version on the engine. Of the instance too, because two installations that share an
 * engine label the same content differently, and a name that moved would leave one of them an image without any.
 */
export function versionImageName(tool: string, hash: string, instance: string): string {
  const owner = createHash('sha256').update(instance).digest('hex').slice(0, 6)
  return `${repositoryOf(tool)}:h-${hash.slice(0, 12)}-${owner}`
}

export const baseImageName = (base: string) => repositoryOf(`base-${base}`)

/** The base of this repository that an image's name means, as `shell` for `toolyard/base-shell:latest`. */
export function ownBaseOf(image: string): string | undefined {
  return /^(?:docker\.io\/)?toolyard\/base-([a-z0-9]+(?:[._-][a-z0-9]+)*)(?::latest)?$/.exec(image)?.[1]
}

const repositoryName = /^[a-z0-9]+(?:(?:_|__|-+)[a-z0-9]+)*$/

/** Why no image can have the name of this tool; undefined where one can. */
export function imageNameFault(tool: string, bases: readonly string[]): string | undefined {
  if (bases.some((base) => tool === `base-${base}`))
    return `the name "${tool}" is kept for the base image toolyard/${tool}: rename the tool`
  if (!repositoryName.test(tool))
    return `no image can be called toolyard/${tool}: between letters and digits there may be one or two _ or any number of -, and none at the end`
  return undefined
}
