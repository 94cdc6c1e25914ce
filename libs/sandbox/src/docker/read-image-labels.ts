import type Docker from 'dockerode'
import { EngineError, callEngine } from './engine-error.ts'

const callTimeoutMs = 10_000

/** Undefined where there is no such image. */
export async function readImageLabels(
  docker: Docker,
  name: string,
): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    const { Config } = await callEngine(callTimeoutMs, () => docker.getImage(name).inspect())
    return Config.Labels ?? {}
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return undefined
    throw error
  }
}
