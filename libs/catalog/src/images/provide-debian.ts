import type { Engine } from '@toolyard/sandbox/open-engine'
import { hasImage, pullImage } from '@toolyard/sandbox/store-image'
import { debianRelease, makeDebian } from './make-debian.ts'

// The Debian under the bases in `_base`: a registry's, or, where none answers, one made from Debian's archive that has
// the base's packages already, so that the base builds without a network.

/** What the bases of this repository need that a bare Debian lacks. */
export const basePackages: ReadonlyMap<string, readonly string[]> = new Map([
  ['shell', ['bash', 'ca-certificates', 'jq']],
  ['python', ['ca-certificates', 'python3']],
  ['node', ['ca-certificates', 'nodejs']],
])

export type WantedDebian = {
  base: string
  registryTimeoutMs?: number
  signal: AbortSignal
  onProgress: (line: string) => void
}

export type ProvidedDebian =
  | { kind: 'provided'; image: string }
  /** `detail` says in a sentence what to do. */
  | { kind: 'program_missing'; detail: string }
  | { kind: 'failed'; detail: string }

const registryImage = `debian:${debianRelease}-slim`
const otherPackages = ['ca-certificates']

/** The image to pass as DEBIAN when this base is built; it is on the engine when this returns. */
export async function provideDebian(engine: Engine, wanted: WantedDebian): Promise<ProvidedDebian> {
  const { base, registryTimeoutMs = 60_000, signal, onProgress } = wanted
  const own = `toolyard/debian-${base}:${debianRelease}`
  for (const image of [own, registryImage])
    if (await hasImage(engine, image)) return { kind: 'provided', image }
  onProgress(`Pulling ${registryImage}`)
  if (await pullImage(engine, registryImage, registryTimeoutMs, signal))
    return { kind: 'provided', image: registryImage }
  onProgress(`No registry gives ${registryImage}: making ${own} from Debian's archive`)
  const packages = basePackages.get(base) ?? otherPackages
  const made = await makeDebian(engine, { name: own, packages, signal, onProgress })
  if (made.kind === 'made') return { kind: 'provided', image: own }
  if (made.kind === 'failed')
    return {
      kind: 'failed',
      detail: `no registry gives ${registryImage}, and none could be made: ${made.detail}`,
    }
  const detail = `no registry gives ${registryImage}, and mmdebstrap, which makes one, is missing: install it (apt-get install mmdebstrap) or load ${registryImage} into the engine`
  return { kind: 'program_missing', detail }
}
