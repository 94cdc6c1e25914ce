import { createHash } from 'node:crypto'

/**
 * Names an engine for whoever keeps count of its images. Its own word for itself is not enough: two daemons on one
 * machine share the file that it comes from, and so do machines that were made from one disk. Where it keeps its data
 * and what its host is called tell those apart; an engine that moves is a new one, which costs a build.
 */
export function engineIdOf(info: unknown): string | undefined {
  if (typeof info !== 'object' || info === null) return undefined
  if (!('ID' in info) || typeof info.ID !== 'string' || info.ID === '') return undefined
  const host = 'Name' in info ? String(info.Name) : ''
  const folder = 'DockerRootDir' in info ? String(info.DockerRootDir) : ''
  return createHash('sha256')
    .update(JSON.stringify([info.ID, host, folder]))
    .digest('hex')
    .slice(0, 32)
}
