import { createHash } from 'node:crypto'
import type { ContextEntry } from './found-tool.ts'

/** Another number makes other images of the same folders: for changes in how a context is packed. */
const contextFormat = 'toolyard context 1'

export type ContextIdentity = {
  manifest: Uint8Array
  entries: readonly ContextEntry[]
  /** What else goes into the image: the base images of this repository, the init. */
  extra: readonly string[]
}

/**
 * The name of everything an image is made from. Each part goes in behind its length, and each list behind its count,
 * so that no two different folders are written alike.
 */
export function hashContext({ manifest, entries, extra }: ContextIdentity): string {
  const hash = createHash('sha256')
  const add = (part: string | Uint8Array) => {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    hash.update(`${bytes.length}:`).update(bytes)
  }
  add(contextFormat)
  add(String(extra.length))
  for (const part of extra) add(part)
  add(manifest)
  add(String(entries.length))
  for (const entry of entries) {
    add(entry.path)
    for (const part of describeEntry(entry)) add(part)
  }
  return hash.digest('hex')
}

function describeEntry(entry: ContextEntry): [type: string, content: string] {
  if (entry.type === 'directory') return ['directory', '']
  if (entry.type === 'link') return ['link', entry.target]
  return [entry.executable ? 'program' : 'file', entry.digest]
}

/** The name of a set of tools, for those who ask whether two machines have the same. */
export function hashTools(tools: readonly { name: string; hash: string }[]): string {
  return createHash('sha256')
    .update(JSON.stringify(tools.map(({ name, hash }) => [name, hash])))
    .digest('hex')
}
