import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import {
  isDevelopmentFile,
  levelOf,
  levels,
  mayImportTestkit,
  ownerOf,
  sharedByLowest,
  testkit,
} from './architecture-table.ts'
import type { Fault } from './fault.ts'
import type { Package } from './packages.ts'
import { scope } from './packages.ts'
import type { Import } from './read-module.ts'

/** An import, and the file and package that it stands in. */
export type Place = { path: string; from: Package; at: Import }

/** What is wrong with one import: where it reaches, who owns it, whether it is declared. */
export function importFaults(place: Place, packages: Package[]): Fault[] {
  const { specifier } = place.at
  if (specifier.startsWith('.')) return relativeFaults(place)
  if (/^(?:[#/]|[a-z]+:)/.test(specifier) && !specifier.startsWith('node:')) {
    return [
      fault(
        place,
        'hidden-import',
        `"${specifier}" goes past the package names: import by relative path or package name`,
      ),
    ]
  }
  if (isBuiltin(specifier)) return []
  const workspace = workspaceOf(specifier)
  return workspace === undefined ? clientFaults(place) : workspaceFaults(place, workspace, packages)
}

function relativeFaults(place: Place): Fault[] {
  const target = posix.join(posix.dirname(place.path), place.at.specifier)
  if (!target.startsWith(`${place.from.folder}/`)) {
    if (target.startsWith('scripts/')) {
      return [
        fault(
          place,
          'scripts',
          'imports a repository program: nothing that is shipped or tested depends on scripts/',
        ),
      ]
    }
    return [
      fault(
        place,
        'relative',
        `leaves ${place.from.folder}: import another package as ${scope}<name>/<export>`,
      ),
    ]
  }
  if (isDevelopmentFile(place.path) || !isDevelopmentFile(target)) return []
  return [
    fault(place, 'development', `${target} is for tests and benches: move what a service needs out of it`),
  ]
}

function clientFaults(place: Place): Fault[] {
  const name = packageNameOf(place.at.specifier)
  const owner = ownerOf(name)
  if (owner !== undefined && owner !== place.from.folder) {
    return [fault(place, 'owner', `${name} belongs to ${owner}: ask that package for what you need`)]
  }
  return declarationFaults(place, name)
}

function workspaceFaults(place: Place, to: string, packages: Package[]): Fault[] {
  const { from, path } = place
  const target = packages.find((one) => one.kind !== 'root' && one.short === to)
  if (target === undefined) return [fault(place, 'package', `no workspace is named ${scope}${to}`)]
  if (target === from)
    return [fault(place, 'relative', 'imports its own package by name: use the relative path')]
  if (to === testkit) {
    if (mayImportTestkit(path)) return []
    return [
      fault(
        place,
        'testkit',
        'testkit is for tests: import it from a .test.ts, a contract suite, test/, bench/, fixtures/ or scripts/, except scripts/services/',
      ),
    ]
  }
  if (target.kind === 'app' && from.kind !== 'root') {
    return [fault(place, 'level', `no ${from.kind} imports an app: move what both need into a lib`)]
  }
  return [...levelFaults(place, to), ...declarationFaults(place, `${scope}${to}`)]
}

function levelFaults(place: Place, to: string): Fault[] {
  const { from } = place
  if (from.kind !== 'lib' || from.short === testkit) return []
  const [own, other] = [levelOf(from.short), levelOf(to)]
  if (own === 0 && to !== sharedByLowest) {
    return [
      fault(place, 'level', `${from.short} is on the lowest level and imports nothing but ${sharedByLowest}`),
    ]
  }
  if (own === -1 || other <= own) return []
  return [
    fault(
      place,
      'level',
      `imports upward: ${to} (level ${other + 1} of ${levels.length}) is above ${from.short} (level ${own + 1})`,
    ),
  ]
}

function declarationFaults(place: Place, name: string): Fault[] {
  const { from, path } = place
  if (from.kind === 'root' && name.startsWith(scope)) return []
  if (from.dependencies.has(name)) return []
  const development = isDevelopmentFile(path)
  if (development && from.devDependencies.has(name)) return []
  const manifest = from.kind === 'root' ? 'package.json' : `${from.folder}/package.json`
  const list = from.devDependencies.has(name) ? 'moves from devDependencies to dependencies' : 'is missing'
  return [fault(place, 'declared', `${name} ${list} in ${manifest}`)]
}

/** `db` for `@toolyard/db/pool`; undefined for what is not ours. */
export function workspaceOf(specifier: string): string | undefined {
  return specifier.startsWith(scope) ? specifier.slice(scope.length).split('/')[0] : undefined
}

function packageNameOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function fault(place: Place, rule: string, message: string): Fault {
  return { path: place.path, line: place.at.line, rule, message }
}
