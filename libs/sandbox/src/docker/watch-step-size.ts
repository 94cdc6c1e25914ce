import type Docker from 'dockerode'
import { callEngine } from './engine-error.ts'

// A step that fills the disk is seen while it runs, not only when its image is there. What it writes to a VOLUME or
// between two looks is not.

const everyMs = 2_000
const callTimeoutMs = 10_000

/** Looks at what the container of a build's step has written so far. Returns what ends the watch. */
export function watchStepSize(
  docker: Docker,
  container: () => string | undefined,
  onSize: (bytes: number) => void,
): () => void {
  let isLooking = false
  const look = async () => {
    const id = container()
    if (id === undefined || isLooking) return
    isLooking = true
    try {
      onSize(await readWritten(docker, id))
    } catch {
      // safe to ignore because a step may have ended meanwhile, and the image is measured when it is built
    } finally {
      isLooking = false
    }
  }
  const timer = setInterval(() => void look(), everyMs)
  return () => clearInterval(timer)
}

async function readWritten(docker: Docker, id: string): Promise<number> {
  const info: object = await callEngine(callTimeoutMs, (abortSignal) => {
    const options = { size: true, abortSignal }
    return docker.getContainer(id).inspect(options)
  })
  return 'SizeRw' in info && typeof info.SizeRw === 'number' ? info.SizeRw : 0
}
