import { ContextChanged } from './context-changed.ts'
import { digestContext } from './digest-context.ts'
import type { FileFault, FoundTool } from './found-tool.ts'
import { hashContext } from './hash-context.ts'
import type { Context } from './read-context.ts'
import { readContext } from './read-context.ts'
import { readManifest } from './read-manifest.ts'

export type ToolReading =
  | { state: 'tool'; tool: FoundTool }
  | { state: 'faults'; faults: readonly FileFault[] }
  /** It was written to a moment ago, or while it was read: what was seen may be half of something. */
  | { state: 'unsettled' }
  | { state: 'gone' }

export type ReadToolOptions = { extra: readonly string[]; settleMs: number }

export async function readTool(
  folder: { name: string; dir: string },
  { extra, settleMs }: ReadToolOptions,
): Promise<ToolReading> {
  try {
    const before = await readContext(folder.dir)
    // A clock of another machine may be anywhere; then the comparison below has to do.
    if (Math.abs(Date.now() - before.changedAtMs) < settleMs) return { state: 'unsettled' }
    const reading = await judge(folder, before, extra)
    const after = await readContext(folder.dir)
    return after.stamp === before.stamp ? reading : { state: 'unsettled' }
  } catch (error) {
    if (!(error instanceof ContextChanged)) throw error
    return { state: error.path === folder.dir ? 'gone' : 'unsettled' }
  }
}

async function judge(
  { name, dir }: { name: string; dir: string },
  context: Context,
  extra: readonly string[],
): Promise<ToolReading> {
  const read = await readManifest(dir, name)
  const faults = ['faults' in read ? read.faults : [], dockerfileFaults(context), context.faults].flat()
  const lock = context.faults.find(({ file, detail }) => file === '.' && detail.startsWith('cannot be read'))
  // What else is wrong with such a folder, nobody can know.
  if (lock) return { state: 'faults', faults: [lock] }
  if (context.faults.length > 0) return { state: 'faults', faults }
  const { entries, faults: unreadable } = await digestContext(dir, context.entries)
  faults.push(...unreadable.filter(({ file }) => !faults.some((fault) => fault.file === file)))
  if ('faults' in read || faults.length > 0) return { state: 'faults', faults }
  const hash = hashContext({ manifest: read.bytes, entries, extra })
  return { state: 'tool', tool: { name, dir, manifest: read.manifest, hash, entries } }
}

function dockerfileFaults({ entries, faults }: Context): FileFault[] {
  const file = 'Dockerfile'
  const entry = entries.find(({ path }) => path === file)
  if (entry?.type === 'file') return entry.size > 0 ? [] : [{ file, detail: 'is empty' }]
  if (entry !== undefined) return [{ file, detail: 'must be a regular file' }]
  return faults.some((fault) => fault.file === file) ? [] : [{ file, detail: 'is missing' }]
}
