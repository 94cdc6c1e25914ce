import type Docker from 'dockerode'
import { EngineError, callEngine } from './engine-error.ts'

const callTimeoutMs = 30_000

/** Takes a name away; the image goes with its last one, unless something is made of it. */
export async function untagImage(docker: Docker, name: string): Promise<void> {
  try {
    await callEngine(callTimeoutMs, (abortSignal) => docker.getImage(name).remove({ abortSignal }))
  } catch (error) {
    if (!(error instanceof EngineError && (error.status === 404 || error.status === 409))) throw error
  }
}
