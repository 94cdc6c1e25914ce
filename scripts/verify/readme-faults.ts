import { levelOf, levels, testkit } from './architecture-table.ts'
import type { Fault } from './fault.ts'
import type { Edge } from './package-cycles.ts'
import type { Package } from './packages.ts'
import type { Tree } from './read-tree.ts'

const linesMax = 40

/** What a README of a lib gets wrong; `edges` are the imports of all libs, but for those of development files. */
export function readmeFaults(lib: Package, tree: Tree, edges: readonly Edge[]): Fault[] {
  const path = `${lib.folder}/README.md`
  const text = tree.get(path)
  if (text === undefined) {
    const message = 'is missing: owns, does not own, may import, invariants, how to test'
    return [{ path, line: 1, rule: 'readme', message }]
  }
  const faults: Fault[] = []
  const lineCount = text.trimEnd().split('\n').length
  if (lineCount > linesMax) {
    const message = `has ${lineCount} lines: cut it to ${linesMax}, the code says the rest`
    faults.push({ path, line: linesMax + 1, rule: 'readme', message })
  }
  // Testkit may import any lib.
  if (lib.short !== testkit) faults.push(...importLineFaults({ lib, path, text }, edges))
  return faults
}

type Readme = { lib: Package; path: string; text: string }

function importLineFaults({ lib, path, text }: Readme, edges: readonly Edge[]): Fault[] {
  const lines = text.split('\n')
  const at = lines.findIndex((line) => mayImport.test(line))
  const report = (message: string): Fault => ({ path, line: at + 1, rule: 'may-import', message })
  if (at === -1)
    return [{ ...report('does not say what the lib imports: add "May import: `libs/…`"'), line: 1 }]
  const { named, isList } = allowedBy(lines[at] ?? '')
  const imported = new Set(edges.filter(({ from }) => from === lib.short).map(({ to }) => to))
  // What no lib may import is said at its import.
  const unnamed = [...imported].filter((name) => !named.has(name) && levelOf(name) !== -1)
  const unused = [...named].filter((name) => isList && !imported.has(name))
  return [
    ...(unnamed.length === 0 ? [] : [report(`does not name ${inWords(unnamed)}, which the lib imports`)]),
    ...(unused.length === 0 ? [] : [report(`names ${inWords(unused)}, which nothing of the lib imports`)]),
  ]
}

const inWords = (names: string[]) =>
  names
    .toSorted()
    .map((name) => `\`libs/${name}\``)
    .join(', ')

const mayImport = /^\W*May import\b/

/** The libs that the sentence allows. A list is to be used up; of whole levels a lib may use what it needs. */
function allowedBy(line: string): { named: ReadonlySet<string>; isList: boolean } {
  const sentence = line.replaceAll(/\([^()]*\)/g, '').split(/[.;](?:\s|$)/)[0] ?? ''
  const range = /\blevels? (\d)(?: to (\d))?/.exec(sentence)
  const libs = new Set(levels.flat())
  const named = (sentence.match(/[\w-]+/g) ?? []).filter((word) => libs.has(word))
  if (range === null) return { named: new Set(named), isList: true }
  const [first, last] = [Number(range[1]), Number(range[2] ?? range[1])]
  return { named: new Set([...named, ...levels.slice(first - 1, last).flat()]), isList: false }
}
