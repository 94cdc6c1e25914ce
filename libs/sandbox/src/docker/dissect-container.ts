import type Docker from 'dockerode'
import type { Autopsy } from '../launcher.ts'
import { EngineError, callEngine } from './engine-error.ts'

const callTimeoutMs = 10_000
// How long an init whose stdin has closed may take to see it: one that its tool keeps from every processor never does.
const lastActMs = 1_000
const deathTimeoutMs = 7_000
const notRunning = 409

/** What became of a container whose stdin is closed, so that it is about to end. What will not end is killed. */
export async function dissectContainer(docker: Docker, name: string): Promise<Autopsy> {
  const container = docker.getContainer(name)
  const read = async (): Promise<Autopsy | undefined> => {
    const { State } = await callEngine(callTimeoutMs, (abortSignal) => container.inspect({ abortSignal }))
    if (State.Running) return undefined
    return { kind: 'dead', code: State.ExitCode, isOutOfMemory: State.OOMKilled }
  }
  const wait = (timeoutMs: number) =>
    callEngine(timeoutMs, (abortSignal) => container.wait({ condition: 'not-running', abortSignal }))
  const kill = async () => {
    try {
      await callEngine(callTimeoutMs, (abortSignal) => container.kill({ abortSignal }))
    } catch (error) {
      // It ended by itself between our two calls: as good as killed, and not the engine's fault.
      if (!(error instanceof EngineError && error.status === notRunning)) throw error
    }
  }
  try {
    await wait(lastActMs).catch(kill)
    return (
      (await read()) ??
      (await wait(deathTimeoutMs).then(read)) ?? { kind: 'unknown', detail: 'it does not die' }
    )
  } catch (error) {
    return { kind: 'unknown', detail: error instanceof Error ? error.message : 'unknown error' }
  }
}
