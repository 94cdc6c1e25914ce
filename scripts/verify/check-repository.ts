import { join } from 'node:path'
import { addedEntries, completeLock } from '../complete-lock.ts'
import { checkArchitecture } from './architecture.ts'
import { checkConventions } from './conventions.ts'
import { checkDocs } from './docs.ts'
import type { Fault } from './fault.ts'
import { byPlace, formatFault } from './fault.ts'
import type { Tree } from './read-tree.ts'
import { readTree } from './read-tree.ts'

// The rules of the repository that no tool knows: all of them over one reading of the tree.

export function checkRepository(tree: Tree): Fault[] {
  return [
    ...checkArchitecture(tree),
    ...checkConventions(tree),
    ...checkDocs(tree),
    ...checkLock(tree),
  ].toSorted(byPlace)
}

function checkLock(tree: Tree): Fault[] {
  const path = 'package-lock.json'
  const text = tree.get(path) ?? ''
  const completed = completeLock(text)
  if (completed === text) return []
  const added = addedEntries(text, completed)
  const message = `lacks ${added.length} packages of other platforms (${added[0] ?? 'or holds old ones'}), so npm ci refuses it: npm run lock`
  return [{ path, line: 1, rule: 'lock', message }]
}

if (import.meta.main) {
  const tree = readTree(join(import.meta.dirname, '../..'))
  const faults = checkRepository(tree)
  for (const fault of faults) console.log(formatFault(fault))
  console.log(`${tree.size} files, ${faults.length === 0 ? 'no fault' : `${faults.length} faults`}`)
  if (faults.length > 0) process.exitCode = 1
}
