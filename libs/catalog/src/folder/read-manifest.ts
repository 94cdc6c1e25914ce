import { join } from 'node:path'
import type { Fault } from '@toolyard/contract/errors'
import type { Manifest } from '@toolyard/contract/manifest'
import { parseManifest } from '@toolyard/contract/parse-manifest'
import type { FileFault } from './found-tool.ts'
import { locateJson } from './locate-json.ts'
import { readSmallFile } from './read-small-file.ts'
import { scheduleFaults } from './schedule-faults.ts'

const file = 'manifest.json'

export type ReadManifest = { manifest: Manifest; bytes: Buffer } | { faults: FileFault[] }

/** The manifest in a folder of that name, or everything that is wrong with it. */
export async function readManifest(dir: string, name: string): Promise<ReadManifest> {
  const read = await readSmallFile(join(dir, file))
  if (read.state === 'missing') return { faults: [{ file, detail: 'is missing' }] }
  if (read.state === 'refused') return { faults: [{ file, detail: read.detail }] }
  const text = decode(read.bytes)
  if (text === undefined) return { faults: [{ file, detail: 'is not UTF-8' }] }
  const located = locateJson(text)
  if (located.faults.length > 0) return { faults: located.faults.map((fault) => ({ file, ...fault })) }
  return checkManifest(JSON.parse(text), { name, lines: located.lines, bytes: read.bytes })
}

type Source = { name: string; lines: ReadonlyMap<string, number>; bytes: Buffer }

function checkManifest(value: unknown, { name, lines, bytes }: Source): ReadManifest {
  const parsed = parseManifest(value)
  const faults = [...('faults' in parsed ? parsed.faults : []), ...scheduleFaults(value)]
  const named = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  if (typeof named === 'string' && named !== name)
    faults.push({ pointer: '/name', detail: `must be ${JSON.stringify(name)}, as the folder is called` })
  if ('manifest' in parsed && faults.length === 0) return { manifest: parsed.manifest, bytes }
  const inFile = ({ pointer, detail }: Fault) => ({ file, pointer, line: lineOf(lines, pointer), detail })
  return { faults: faults.map(inFile) }
}

// What is missing has no line of its own: then it is that of what it is missing in.
function lineOf(lines: ReadonlyMap<string, number>, pointer: string): number {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const line = lines.get(at)
    if (line !== undefined) return line
  }
  return 1
}

/** Editors on some systems put a byte order mark before it; it says nothing. */
function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
