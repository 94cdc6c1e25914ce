import { createHash } from 'node:crypto'
import { buildImage } from '@toolyard/sandbox/build-image'
import { readImageLabels } from '@toolyard/sandbox/read-image-labels'
import { packContext } from '../folder/pack-context.ts'
import { baseImagesOf, globalArgumentsOf } from './base-images-of.ts'
import type { BuildSurroundings, NotBuilt } from './build-surroundings.ts'
import { explainBuild } from './explain-build.ts'
import { baseImageName, ownBaseOf } from './image-names.ts'
import { provideDebian } from './provide-debian.ts'
import type { Base } from './read-bases.ts'

export type ProvidedBase = { kind: 'provided'; hash: string } | NotBuilt

const baseLabel = 'toolyard.base'
const baseHashLabel = 'toolyard.base_hash'
// Bases of bases; more than anybody needs, and an end for those that go in a circle.
const depthMax = 5

/** Puts a base of this repository on the engine, made from what its folder holds now, unless it is there already. */
export async function provideBase(
  name: string,
  surroundings: BuildSurroundings,
  depth = 0,
): Promise<ProvidedBase> {
  const { bases, engine } = surroundings
  const base = bases.byName.get(name)
  if (base === undefined) return { kind: 'error', detail: describeMissing(name, surroundings) }
  if (depth > depthMax)
    return { kind: 'error', detail: `base images are made from each other: ${name} among them` }
  const parents: string[] = []
  for (const image of baseImagesOf(base.dockerfile)) {
    const parent = ownBaseOf(image)
    if (parent === undefined) continue
    const provided = await provideBase(parent, surroundings, depth + 1)
    if (provided.kind !== 'provided') return provided
    parents.push(provided.hash)
  }
  const hash = createHash('sha256')
    .update(JSON.stringify([base.hash, parents]))
    .digest('hex')
  const isThere = async () => (await readImageLabels(engine, baseImageName(name)))?.[baseHashLabel] === hash
  if (await isThere()) return { kind: 'provided', hash }
  return surroundings.withLock(`base ${name}`, surroundings.signal, async () => {
    // Whoever held the lock before may have made it.
    if (await isThere()) return { kind: 'provided', hash }
    return (await makeBase(base, hash, surroundings)) ?? { kind: 'provided', hash }
  })
}

function describeMissing(name: string, { bases }: BuildSurroundings): string {
  const fault = bases.faults.get(name)
  if (fault !== undefined) return `the base image ${baseImageName(name)} cannot be made: ${fault}`
  const known = [...bases.byName.keys()].map(baseImageName).sort()
  const others = known.length === 0 ? 'there is none in _base' : `there are ${known.join(', ')}`
  return `there is no base image ${baseImageName(name)}: ${others}`
}

async function makeBase(
  base: Base,
  hash: string,
  surroundings: BuildSurroundings,
): Promise<NotBuilt | undefined> {
  const { engine, signal, onProgress, limits, networkMode, registryTimeoutMs } = surroundings
  const name = baseImageName(base.name)
  onProgress(`Making the base image ${name}`)
  const buildArgs: Record<string, string> = {}
  if (globalArgumentsOf(base.dockerfile).includes('DEBIAN')) {
    const timeout = registryTimeoutMs === undefined ? {} : { registryTimeoutMs }
    const debian = await provideDebian(engine, { base: base.name, signal, onProgress, ...timeout })
    if (debian.kind !== 'provided')
      return { kind: debian.kind === 'failed' ? 'fault' : 'error', detail: `${name}: ${debian.detail}` }
    buildArgs['DEBIAN'] = debian.image
  }
  const built = await buildImage(engine, {
    ...limits,
    ...(networkMode === undefined ? {} : { networkMode }),
    context: packContext(base),
    tag: `${name}:latest`,
    labels: { [baseLabel]: base.name, [baseHashLabel]: hash },
    buildArgs,
    signal,
    onProgress,
  })
  if (built.kind === 'built') return undefined
  const { kind, detail } = explainBuild(built, limits)
  return { kind, detail: `the base image ${name} could not be made: ${detail}` }
}
