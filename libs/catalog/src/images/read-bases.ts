import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { digestContext } from '../folder/digest-context.ts'
import type { ContextEntry } from '../folder/found-tool.ts'
import { hashContext } from '../folder/hash-context.ts'
import { readContext } from '../folder/read-context.ts'
import { readSmallFile } from '../folder/read-small-file.ts'

/** A folder of `_base`: what `FROM toolyard/base-<name>` means. */
export type Base = {
  name: string
  dir: string
  entries: readonly ContextEntry[]
  hash: string
  dockerfile: string
}

export type Bases = {
  byName: ReadonlyMap<string, Base>
  /** Why a folder of `_base` is no base; nobody's business but that of the tools made from it. */
  faults: ReadonlyMap<string, string>
  /** Names them all; part of the identity of every version, whatever engine it is built on. */
  hash: string
}

const baseName = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/

/** The bases of some directories of tools; of two with one name the first directory's. No `_base`, no bases. */
export async function readBases(dirs: readonly string[]): Promise<Bases> {
  const byName = new Map<string, Base>()
  const faults = new Map<string, string>()
  for (const dir of dirs) {
    for (const name of await listNames(join(dir, '_base'))) {
      if (byName.has(name) || faults.has(name)) continue
      const read = await readBase(name, join(dir, '_base', name))
      if ('fault' in read) faults.set(name, read.fault)
      else byName.set(name, read)
    }
  }
  const named = [...byName.values()].map(({ name, hash }) => `${name} ${hash}`).sort()
  return { byName, faults, hash: createHash('sha256').update(named.join('\n')).digest('hex') }
}

async function listNames(dir: string): Promise<string[]> {
  try {
    const found = await readdir(dir, { withFileTypes: true })
    return found.filter((entry) => entry.isDirectory() && baseName.test(entry.name)).map(({ name }) => name)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

async function readBase(name: string, dir: string): Promise<Base | { fault: string }> {
  const context = await readContext(dir)
  const { entries, faults } = await digestContext(dir, context.entries)
  const [fault] = [...context.faults, ...faults]
  if (fault !== undefined) return { fault: `${join(dir, fault.file)}: ${fault.detail}` }
  const dockerfile = await readSmallFile(join(dir, 'Dockerfile'))
  if (dockerfile.state === 'missing') return { fault: `${join(dir, 'Dockerfile')} is missing` }
  if (dockerfile.state === 'refused') return { fault: `${join(dir, 'Dockerfile')}: ${dockerfile.detail}` }
  const hash = hashContext({ manifest: Buffer.alloc(0), entries, extra: [] })
  return { name, dir, entries, hash, dockerfile: dockerfile.bytes.toString('utf8') }
}
