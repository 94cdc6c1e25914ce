import type Docker from 'dockerode'
import { EngineError, callEngine } from './engine-error.ts'

export type Removal = { kind: 'removed' } | { kind: 'stuck'; detail: string }

const removeTimeoutMs = 15_000

/** Kills and removes a container with the volumes that are its own. One that is gone already is removed. */
export async function removeContainer(docker: Docker, id: string): Promise<Removal> {
  try {
    await callEngine(removeTimeoutMs, (abortSignal) =>
      docker.getContainer(id).remove({ force: true, v: true, abortSignal }),
    )
    return { kind: 'removed' }
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return { kind: 'removed' }
    return { kind: 'stuck', detail: error instanceof Error ? error.message : 'unknown error' }
  }
}
