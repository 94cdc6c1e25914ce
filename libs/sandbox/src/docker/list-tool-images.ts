import type Docker from 'dockerode'
import { callEngine } from './engine-error.ts'
import { instanceLabel, readIdentity } from './image-labels.ts'

export type StoredToolImage = {
  id: string
  tool: string
  hash: string
  /** When its content was made: an image that the builder's cache gave back is as old as the first of its kind. */
  createdAt: Date
}

const callTimeoutMs = 30_000

/** Every image of a tool of this instance on the engine, and what somebody built from one; not their shared layers. */
export async function listToolImages(docker: Docker, instance: string): Promise<StoredToolImage[]> {
  const filters = { label: [`${instanceLabel}=${instance}`] }
  const found = await callEngine(callTimeoutMs, (abortSignal) => docker.listImages({ filters, abortSignal }))
  return found.flatMap(({ Id: id, Labels, Created }) => {
    // An engine answers null for what is empty, whatever its types say.
    const identity = readIdentity(Labels ?? {}, instance)
    if (identity === undefined) return []
    return [{ id, tool: identity.tool, hash: identity.hash, createdAt: new Date(Created * 1_000) }]
  })
}
