import { posix } from 'node:path'
import type { Fault } from './fault.ts'
import type { Tree } from './read-tree.ts'

const folder = 'docs/decisions/'
const linesMax = 40

/** Decisions are numbered in the order they were taken; a gap is a decision that somebody removed instead of superseding. */
export function decisionFaults(tree: Tree): Fault[] {
  const faults: Fault[] = []
  const paths = [...tree.keys()].filter((path) => path.startsWith(folder)).toSorted()
  let expected = 1
  for (const path of paths) {
    const report = (line: number, message: string) => faults.push({ path, line, rule: 'decision', message })
    const number = /^(\d{4})-[a-z0-9]+(?:-[a-z0-9]+)*\.md$/.exec(path.slice(folder.length))?.[1]
    if (number === undefined) {
      report(1, 'is not named NNNN-title.md in lower case and hyphens')
      continue
    }
    if (Number(number) !== expected) {
      report(
        1,
        `has number ${number} where ${String(expected).padStart(4, '0')} comes next: ${posix.dirname(path)} is numbered without gaps`,
      )
    }
    expected = Number(number) + 1
    const lineCount = (tree.get(path) ?? '').trimEnd().split('\n').length
    if (lineCount > linesMax) report(linesMax + 1, `has ${lineCount} lines: cut it to ${linesMax}`)
  }
  return faults
}
