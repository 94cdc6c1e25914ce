import { posix } from 'node:path'
import { apps, isDevelopmentFile, levelOf, mayReadEnvironment, testkit } from './architecture-table.ts'
import type { Fault } from './fault.ts'
import type { Package } from './packages.ts'
import { importFaults, workspaceOf } from './import-faults.ts'
import { readPackages, scope } from './packages.ts'
import { packageCycles } from './package-cycles.ts'
import type { Edge } from './package-cycles.ts'
import type { Module } from './read-module.ts'
import { readModule } from './read-module.ts'
import { readmeFaults } from './readme-faults.ts'
import type { Tree } from './read-tree.ts'
import { isSourceFile } from './source-file.ts'

/** Every breach of docs/ARCHITECTURE.md's rules in the tree. */
export function checkArchitecture(tree: Tree): Fault[] {
  const { packages, faults } = readPackages(tree)
  const edges: Edge[] = []
  for (const [path, source] of tree) {
    if (!isSourceFile(path)) continue
    const from = packages.find((one) => path.startsWith(`${one.folder}/`))
    if (from === undefined) {
      faults.push({
        path,
        line: 1,
        rule: 'folder',
        message: 'belongs to no package: move it into one of apps/ or libs/',
      })
      continue
    }
    const module = readModule(path, source)
    faults.push(...moduleFaults(path, module))
    for (const at of module.imports) {
      const place = { path, from, at }
      faults.push(...importFaults(place, packages))
      const to = workspaceOf(at.specifier)
      if (from.kind === 'lib' && to !== undefined) edges.push({ from: from.short, to, path, line: at.line })
    }
  }
  const running = edges.filter(({ path }) => !isDevelopmentFile(path))
  const ofReadmes = packages.flatMap((one) => (one.kind === 'lib' ? readmeFaults(one, tree, running) : []))
  return [
    ...faults,
    ...packages.flatMap((one) => folderFaults(one, tree)),
    ...ofReadmes,
    ...packageCycles(edges),
  ]
}

function folderFaults(one: Package, tree: Tree): Fault[] {
  if (one.kind === 'root') return []
  const faults: Fault[] = []
  const path = `${one.folder}/package.json`
  const known =
    one.kind === 'app' ? apps.includes(one.short) : one.short === testkit || levelOf(one.short) !== -1
  if (!known) {
    faults.push({
      path,
      line: 1,
      rule: 'table',
      message: `is not in scripts/verify/architecture-table.ts: give ${one.folder} its place there`,
    })
  }
  if (one.dependencies.has(`${scope}${testkit}`) || one.devDependencies.has(`${scope}${testkit}`)) {
    const message = `declares ${testkit}: remove it; tests find it through the workspace, and declared it would close a circle, since ${testkit} imports libs`
    faults.push({ path, line: 1, rule: 'testkit', message })
  }
  if (one.kind === 'lib') faults.push(...exportsFaults(one, tree))
  return faults
}

function exportsFaults(one: Package, tree: Tree): Fault[] {
  const path = `${one.folder}/package.json`
  const report = (message: string): Fault => ({ path, line: 1, rule: 'exports', message })
  if (one.exports === undefined)
    return [report('has no exports map: without one every file of the lib is public')]
  return one.exports
    .filter((target) => !tree.has(posix.join(one.folder, target)))
    .map((target) =>
      report(`exports ${target}, which does not exist: name each public file, without patterns`),
    )
}

function moduleFaults(path: string, module: Module): Fault[] {
  const at = (rule: string, message: string) => (line: number) => ({ path, line, rule, message })
  const faults = [
    ...module.syntaxErrors.map((error) => ({
      path,
      line: error.line,
      rule: 'syntax',
      message: error.message,
    })),
    ...module.hiddenImports.map(
      at('hidden-import', 'loads a module that this check cannot see: name it in a literal import()'),
    ),
    ...module.starExports.map(
      at('barrel', 'passes on a whole module: name each export where it is declared'),
    ),
  ]
  if (/(?:^|\/)index\.[cm]?[jt]sx?$/.test(path))
    faults.push(at('barrel', 'is an index file: name it as its main export')(1))
  else if (module.isBarrel)
    faults.push(at('barrel', "only passes on others' exports: add their files to the exports map")(1))
  if (!mayReadEnvironment(path)) {
    const message =
      "reads the environment: take the value as a parameter; only an app's main.ts, scripts and testkit read it"
    faults.push(...module.environmentReads.map(at('environment', message)))
  }
  return faults
}
