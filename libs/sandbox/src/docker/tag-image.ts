import type Docker from 'dockerode'
import { callEngine } from './engine-error.ts'

const callTimeoutMs = 10_000

/** Gives an image a further name, `repository:tag`, taken from whichever image had it. */
export async function tagImage(docker: Docker, id: string, name: string): Promise<void> {
  const end = name.lastIndexOf(':')
  const options = { repo: name.slice(0, end), tag: name.slice(end + 1) }
  await callEngine(callTimeoutMs, (abortSignal) => docker.getImage(id).tag({ ...options, abortSignal }))
}
