import { posix } from 'node:path'

/** What an image says of itself, as far as it matters to a sandbox. */
export type ImageFacts = {
  entrypoint: string[]
  volumes: string[]
  /** As written in the image or the manifest; absent when it names root or nobody at all. */
  user?: string
  architecture: string
  warnings: string[]
}

/** The engine's answer about an image, in its own words. */
export type ImageConfig = {
  architecture: string
  entrypoint: readonly string[]
  onBuild: readonly string[]
  volumes: readonly string[]
  user: string
}

const reservedPaths = ['/', '/.toolyard', '/proc', '/sys', '/dev']
const volumesMax = 16

/** Reads an image, or says what its author has to change. */
export function readImageFacts(config: ImageConfig): { facts: ImageFacts } | { refused: string } {
  if (config.onBuild.length > 0)
    return {
      refused: 'the image has ONBUILD instructions: remove them, they would run when the image is finished',
    }
  if (config.entrypoint.length === 0)
    return {
      refused: 'the image has no ENTRYPOINT: add ENTRYPOINT ["/path/of/the/runner"] (CMD is not used)',
    }
  const volumes = [...new Set(config.volumes.map(normalPath))].sort()
  const reserved = volumes.find(isReserved)
  if (reserved !== undefined) return { refused: `VOLUME ${reserved} is not possible: it is the system's own` }
  if (volumes.length > volumesMax) return { refused: `the image has more than ${volumesMax} VOLUMEs` }
  return {
    facts: {
      entrypoint: [...config.entrypoint],
      volumes,
      ...(isRootUser(config.user) ? {} : { user: config.user }),
      architecture: config.architecture,
      warnings: isShellForm(config.entrypoint) ? [shellFormWarning] : [],
    },
  }
}

const shellFormWarning =
  'ENTRYPOINT is in shell form, so the shell drops the argument: write it as a list, ENTRYPOINT ["program", "word"]'

function isShellForm(entrypoint: readonly string[]): boolean {
  return (
    entrypoint.length === 3 && /^\/bin\/(ba|da|a)?sh$/.test(entrypoint[0] ?? '') && entrypoint[1] === '-c'
  )
}

export function isRootUser(user: string): boolean {
  return ['', '0', 'root'].includes(user.split(':')[0] ?? '')
}

function normalPath(path: string): string {
  const normal = posix.normalize(posix.join('/', path))
  return normal.length > 1 ? normal.replace(/\/$/, '') : normal
}

// What lies in /dev is the engine's, but for the one directory that we mount there ourselves.
function isReserved(path: string): boolean {
  if (path === '/dev/shm') return false
  return reservedPaths.some((one) => path === one || (one !== '/' && path.startsWith(`${one}/`)))
}
