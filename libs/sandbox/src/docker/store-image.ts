import type { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { EngineError, callEngine } from './engine-error.ts'

// Images that come to an engine from elsewhere than a Dockerfile.

const callTimeoutMs = 10_000

export async function hasImage(docker: Docker, name: string): Promise<boolean> {
  try {
    await callEngine(callTimeoutMs, () => docker.getImage(name).inspect())
    return true
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return false
    throw error
  }
}

/** Pulls from a registry; false where none answers in time or has no such image. */
export async function pullImage(
  docker: Docker,
  name: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const pull = async (abortSignal: AbortSignal) => {
    const progress: NodeJS.ReadableStream = await docker.pull(name, { abortSignal })
    await finished(docker, progress)
  }
  try {
    await callEngine(timeoutMs, pull, signal)
    return await hasImage(docker, name)
  } catch (error) {
    if (error instanceof EngineError) return false
    throw error
  }
}

/** Makes an image of a root file system as a tar stream. */
export async function importImage(
  docker: Docker,
  name: string,
  tar: Readable,
  timeoutMs: number,
): Promise<void> {
  const [repo, tag = 'latest'] = name.split(':')
  await callEngine(timeoutMs, async (abortSignal) => {
    const options = { repo, tag, abortSignal }
    await finished(docker, await docker.importImage(tar, options))
  })
}

/** The engine answers 200 before it begins; a failure stands in what follows. */
async function finished(docker: Docker, progress: NodeJS.ReadableStream): Promise<void> {
  const steps = await new Promise<unknown[]>((resolve, reject) => {
    docker.modem.followProgress(progress, (error, output) =>
      error === null ? resolve(output) : reject(error),
    )
  })
  for (const step of steps) {
    if (typeof step === 'object' && step !== null && 'error' in step)
      throw new EngineError(String(step.error), undefined)
  }
}
