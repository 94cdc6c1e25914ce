import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { buildToolImage } from '@toolyard/catalog/build-tool-image'
import type { FoundTool } from '@toolyard/catalog/found-tool'
import { basesFor } from '@toolyard/catalog/product-bases'
import { toRunRequest, toSandboxSpec } from '@toolyard/catalog/to-sandbox-spec'
import { buildInit } from '@toolyard/sandbox/build-init'
import { chooseBuildNetwork } from '@toolyard/sandbox/choose-build-network'
import { createDockerSandboxes } from '@toolyard/sandbox/create-docker-sandboxes'
import { listToolImages } from '@toolyard/sandbox/list-tool-images'
import { openEngine } from '@toolyard/sandbox/open-engine'
import type { Outcome, TakeFailure } from '@toolyard/sandbox/outcome'
import { removeToolImage } from '@toolyard/sandbox/remove-tool-image'
import type { Sandboxes, SandboxSpec } from '@toolyard/sandbox/sandboxes'
import { toSandboxPolicy } from '@toolyard/sandbox/to-sandbox-policy'
import { readToolNetwork } from '@toolyard/sandbox/tool-network'
import { Failure } from '../../services/terminal/failure.ts'
import type { Installation } from '../../services/installation/installation.ts'

// A tool as its worker would build and run it, beside the installation and not a part of it: images and containers have
// an owner of their own, so that a worker takes neither for its own, and nothing stays.

export type Trial = {
  installation: Installation
  dockerHost: string
  tool: FoundTool
  payload: string
  stop: AbortSignal
  onProgress: (line: string) => void
}

export type Tried = {
  build: { ms: number } & (
    | { kind: 'error'; detail: string }
    | { kind: 'built'; bytes: number; warnings: readonly string[]; uid?: number }
  )
  run?: { startMs: number; outcome: Outcome | TakeFailure; hasNetwork: boolean }
}

const megabyte = 1_048_576
const stepMemoryBytes = 2 * 1024 ** 3
const removeTriesMax = 5
const removeRetryMs = 500

export async function tryOnEngine(trial: Trial): Promise<Tried> {
  const instance = instanceOf(trial.installation)
  const sandboxes = await openSandboxes(trial, instance)
  try {
    // What a check that was killed has left. There is one at a time.
    await sandboxes.opened.sweep(new Set())
    const startedMs = performance.now()
    const built = await build(trial, instance)
    const ms = performance.now() - startedMs
    if (built.kind !== 'ready') {
      trial.stop.throwIfAborted()
      if (built.kind === 'error') return { build: { kind: 'error', ms, detail: built.detail } }
      throw new Failure(`The image could not be built, through no fault of the tool: ${built.detail}`)
    }
    const { imageId, facts } = built
    const { Size: bytes } = await openEngine(trial.dockerHost).getImage(imageId).inspect()
    const spec = toSandboxSpec(trial.tool.manifest, { id: imageId, ...facts })
    const run = await runOnce(trial, sandboxes, spec)
    const uid = facts.user === undefined ? {} : { uid: facts.user.uid }
    return { build: { kind: 'built', ms, bytes, warnings: facts.warnings, ...uid }, run }
  } finally {
    await sandboxes.opened.close()
    await removeImages(trial, instance)
  }
}

const instanceOf = ({ id }: Pick<Installation, 'id'>) => `check-${id}`

async function build({ installation, dockerHost, tool, stop, onProgress }: Trial, instance: string) {
  const { config, paths, toolDirs, id } = installation
  const init = join(paths.init, process.arch, 'init')
  await buildInit(init)
  const { user } = tool.manifest.sandbox
  return buildToolImage(
    {
      tool: { ...tool, ...(user === undefined ? {} : { user }) },
      instance,
      worker: instance,
      init: await readFile(init),
    },
    {
      engine: openEngine(dockerHost),
      // A tool may stand beside bases of its own.
      bases: await basesFor([...toolDirs, dirname(tool.dir)]),
      networkMode: await chooseBuildNetwork(dockerHost, id),
      limits: {
        timeoutMs: config.buildSeconds * 1_000,
        sizeMaxBytes: config.imageMaxMegabytes * megabyte,
        memoryBytes: stepMemoryBytes,
      },
      // A worker that makes the same base at the same time makes the same one.
      withLock: (_name, _signal, work) => work(),
      signal: stop,
      onProgress,
    },
  )
}

type Opened = { opened: Sandboxes; hasNetwork: boolean }

async function openSandboxes({ installation, dockerHost }: Trial, instance: string): Promise<Opened> {
  const { config, id } = installation
  const network = await readToolNetwork(dockerHost, id)
  const opened = createDockerSandboxes({
    dockerHost,
    instance,
    worker: `check-${randomUUID()}`,
    policy: toSandboxPolicy(config, network),
    // One is wanted, and none after it.
    limits: { refillsMax: 0 },
    onStuck: ({ id: container, detail }) =>
      console.error(`The container ${container} cannot be removed: ${detail}`),
  })
  return { opened, hasNetwork: network !== undefined }
}

async function runOnce(trial: Trial, { opened, hasNetwork }: Opened, wanted: SandboxSpec) {
  const isCutOff = wanted.network === 'bridge' && !hasNetwork
  const spec: SandboxSpec = isCutOff ? { ...wanted, network: 'none' } : wanted
  const takenMs = performance.now()
  const taken = await opened.take(spec, { topic: 'check', signal: trial.stop })
  const measured = { startMs: performance.now() - takenMs, hasNetwork: spec.network !== 'none' }
  if (taken.kind !== 'taken') return { ...measured, outcome: taken }
  const call = { payload: trial.payload, invocation: 'inv_check', attempt: 1 }
  try {
    const outcome = await taken.sandbox.run({
      ...toRunRequest(trial.tool.manifest, call),
      signal: trial.stop,
    })
    return { ...measured, outcome }
  } finally {
    await taken.sandbox.release()
  }
}

/** The engine holds on to an image for a moment after its last container has gone. */
async function removeImages({ dockerHost }: Trial, instance: string): Promise<void> {
  const docker = openEngine(dockerHost)
  for (let tries = 1; ; tries++) {
    const images = await listToolImages(docker, instance)
    const removals = await Promise.all(images.map(({ id }) => removeToolImage(docker, { id, instance })))
    const isDone = removals.every(({ kind }) => kind !== 'in_use')
    if (isDone || tries === removeTriesMax) return
    await delay(removeRetryMs)
  }
}
