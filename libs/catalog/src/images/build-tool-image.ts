import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { addInit } from '@toolyard/sandbox/add-init'
import type { AddedInit } from '@toolyard/sandbox/add-init'
import { buildImage } from '@toolyard/sandbox/build-image'
import { imageLabels } from '@toolyard/sandbox/image-labels'
import { untagImage } from '@toolyard/sandbox/untag-image'
import type { FoundTool } from '../folder/found-tool.ts'
import { packContext } from '../folder/pack-context.ts'
import { readSmallFile } from '../folder/read-small-file.ts'
import type { ImageFacts } from '../rows/finish-build.ts'
import { baseImagesOf } from './base-images-of.ts'
import type { BuildSurroundings, NotBuilt } from './build-surroundings.ts'
import { explainBuild, timeOver } from './explain-build.ts'
import { imageNameFault, ownBaseOf, versionImageName } from './image-names.ts'
import { provideBase } from './provide-base.ts'

// From a tool's folder to the image that runs: the bases it is made from, the author's own image, and the init on top.

export type ToolBuild = {
  tool: Pick<FoundTool, 'name' | 'dir' | 'entries' | 'hash'> & { user?: string }
  instance: string
  worker: string
  /** The init's binary, for the engine's architecture. */
  init: Buffer
}

// The author's own build ends by itself when the time is over, and tells how far it came.
const graceMs = 2_000

export type ToolImageResult = { kind: 'ready'; imageId: string; facts: ImageFacts } | NotBuilt

/** Never throws for what a Dockerfile or an engine does. Whatever is named on the way has lost its name when it ends. */
export async function buildToolImage(
  build: ToolBuild,
  surroundings: BuildSurroundings,
): Promise<ToolImageResult> {
  const { timeoutMs } = surroundings.limits
  const deadlineMs = performance.now() + timeoutMs
  const ending = new AbortController()
  const end = () => ending.abort()
  let isTimeOver = false
  const timer = setTimeout(() => {
    isTimeOver = true
    end()
  }, timeoutMs + graceMs)
  surroundings.signal.addEventListener('abort', end)
  if (surroundings.signal.aborted) end()
  try {
    const result = await make(build, { ...surroundings, signal: ending.signal }, deadlineMs)
    // What comes of a call that was cut short says less than why it was.
    return isTimeOver && result.kind === 'fault' ? { kind: 'error', detail: timeOver(timeoutMs) } : result
  } catch (error) {
    return { kind: 'fault', detail: error instanceof Error ? error.message : 'unknown error' }
  } finally {
    clearTimeout(timer)
    surroundings.signal.removeEventListener('abort', end)
  }
}

async function make(
  build: ToolBuild,
  surroundings: BuildSurroundings,
  deadlineMs: number,
): Promise<ToolImageResult> {
  const { tool, instance } = build
  const { engine, bases, limits, networkMode, signal, onProgress } = surroundings
  const fault = imageNameFault(tool.name, [...bases.byName.keys()])
  if (fault !== undefined) return { kind: 'error', detail: fault }
  const missing = await provideBases(tool.dir, surroundings)
  if (missing !== undefined) return missing
  const target = versionImageName(tool.name, tool.hash, instance)
  // A name of its own, so that nobody's cleaning takes it away before the init is added.
  const source = `${target}-${randomUUID().slice(0, 8)}`
  const labels = imageLabels({ instance, tool: tool.name, hash: tool.hash })
  try {
    const built = await buildImage(engine, {
      ...limits,
      timeoutMs: Math.max(1, deadlineMs - performance.now()),
      ...(networkMode === undefined ? {} : { networkMode }),
      context: packContext(tool),
      tag: source,
      labels,
      signal,
      onProgress,
    })
    if (built.kind !== 'built') return explainBuild(built, limits)
    onProgress('Adding the init')
    return readAdded(await addInit(engine, { ...requestOf(build), image: source, target, labels, signal }))
  } finally {
    await untagImage(engine, source)
  }
}

async function provideBases(dir: string, surroundings: BuildSurroundings): Promise<NotBuilt | undefined> {
  const dockerfile = await readSmallFile(join(dir, 'Dockerfile'))
  if (dockerfile.state === 'missing') return { kind: 'fault', detail: 'the Dockerfile is gone' }
  if (dockerfile.state === 'refused') return { kind: 'error', detail: `the Dockerfile ${dockerfile.detail}` }
  for (const image of baseImagesOf(dockerfile.bytes.toString('utf8'))) {
    const base = ownBaseOf(image)
    if (base === undefined) continue
    const provided = await provideBase(base, surroundings)
    if (provided.kind !== 'provided') return provided
  }
  return undefined
}

function requestOf({ tool, instance, worker, init }: ToolBuild) {
  return { instance, worker, init, ...(tool.user === undefined ? {} : { user: tool.user }) }
}

function readAdded(added: AddedInit): ToolImageResult {
  if (added.kind === 'refused') return { kind: 'error', detail: added.detail }
  if (added.kind === 'image_missing')
    return { kind: 'fault', detail: 'the image was removed while it was being finished' }
  if (added.kind === 'engine_failed') return { kind: 'fault', detail: added.detail }
  const { id, entrypoint, volumes, user, warnings } = added.image
  const facts = { entrypoint, volumes, warnings, ...(user === undefined ? {} : { user }) }
  return { kind: 'ready', imageId: id, facts }
}
