import { labelPrefix } from './container-profile.ts'

// What an image of a tool says of itself. Nothing without our instance's label is ever removed.

export const instanceLabel = `${labelPrefix}instance`
const toolLabel = `${labelPrefix}tool`
const hashLabel = `${labelPrefix}hash`

export type ImageIdentity = { instance: string; tool: string; hash: string }

export function imageLabels({ instance, tool, hash }: ImageIdentity): Record<string, string> {
  return { [instanceLabel]: instance, [toolLabel]: tool, [hashLabel]: hash }
}

/** Undefined for an image that is not a tool's, or another instance's. */
export function readIdentity(
  labels: Readonly<Record<string, string>>,
  instance: string,
): ImageIdentity | undefined {
  const { [instanceLabel]: owner, [toolLabel]: tool, [hashLabel]: hash } = labels
  return owner === instance && tool !== undefined && hash !== undefined ? { instance, tool, hash } : undefined
}
