import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

// A registry that lacks the binaries of other platforms makes npm leave them out of the lock file, and `npm ci`
// then refuses that lock everywhere. This adds what is missing, without integrity, since nobody here has seen
// those files; npm checks the registry's own where one of them is really installed.

const lockPath = join(import.meta.dirname, '../package-lock.json')

// Records rather than objects: what is read is written back, and only a record keeps npm's order of keys.
const lockShape = z.record(z.string(), z.unknown())
const packagesShape = z.record(z.string(), z.record(z.string(), z.unknown()))
const rangesShape = z.record(z.string(), z.string()).default({})

type Entry = Record<string, unknown>
type Packages = Record<string, Entry>

/** The lock file's text with every optional dependency in it, in npm's order; the same text if nothing is missing. */
export function completeLock(text: string): string {
  const lock = lockShape.parse(JSON.parse(text))
  const complete = packagesShape.parse(lock['packages'])
  const packages: Packages = Object.fromEntries(
    Object.entries(complete).filter(([, entry]) => !isOurs(entry)),
  )
  // Parents near the root first: where two versions want the same place, npm gives it to the shallower one.
  const parents = Object.entries(packages).toSorted(([a], [b]) => depth(a) - depth(b) || byNpm(a, b))
  for (const [parent, entry] of parents) {
    const ranges = Object.entries(rangesShape.parse(entry['optionalDependencies']))
    for (const [name, range] of ranges) add(packages, parent, { name, range })
  }
  const sorted = Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => byNpm(a, b)))
  return `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`
}

/** What `after` holds more than `before`, as `path@version`, for a person to read. */
export function addedEntries(before: string, after: string): string[] {
  const packagesIn = (text: string) => packagesShape.parse(lockShape.parse(JSON.parse(text))['packages'])
  const old = packagesIn(before)
  return Object.entries(packagesIn(after))
    .filter(([path, entry]) => old[path]?.['version'] !== entry['version'])
    .map(([path, entry]) => `${path}@${String(entry['version'])}`)
}

/** Which machines a binary package is for, read from its name; undefined where the name does not tell. */
export function platformOf(name: string): Platform | undefined {
  if (name === 'fsevents') return { os: ['darwin'] }
  const words = name.split(/[-/@_.]/).map((word) => npmWords[word] ?? word)
  const os = words.find((word) => systems.includes(word))
  const cpu = words.find((word) => processors.includes(word))
  if (os === undefined || cpu === undefined) return undefined
  const libc = os === 'linux' ? words.find((word) => word === 'glibc' || word === 'musl') : undefined
  return { os: [os], cpu: [cpu], ...(libc !== undefined && { libc: [libc] }) }
}

type Platform = { os: string[]; cpu?: string[]; libc?: string[] }

const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
]

const processors = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
]

/** How package names spell what npm calls otherwise. */
const npmWords: Partial<Record<string, string>> = {
  windows: 'win32',
  64: 'x64',
  armv7: 'arm',
  gnu: 'glibc',
  gnueabihf: 'glibc',
  musleabihf: 'musl',
}

function isOurs(entry: Entry): boolean {
  return entry['optional'] === true && 'os' in entry && !('integrity' in entry) && !('resolved' in entry)
}

function add(packages: Packages, parent: string, wanted: { name: string; range: string }): void {
  const places = resolutionPlaces(packages, parent, wanted.name)
  const taken = places.findIndex((place) => packages[place] !== undefined)
  const version = /\d+\.\d+\.\d+(?:-[\w.-]+)?/.exec(wanted.range)?.[0]
  const isExact = version === wanted.range
  if (taken !== -1 && (!isExact || packages[places[taken] ?? '']?.['version'] === version)) return
  const platform = platformOf(wanted.name)
  // As near to the root as no other version stands in the way, which is where npm would put it.
  const place = places.at(taken === -1 ? -1 : taken - 1)
  if (platform === undefined || version === undefined || place === undefined || taken === 0) {
    throw new Error(
      `cannot place ${wanted.name}@${wanted.range} of "${parent}": teach scripts/complete-lock.ts`,
    )
  }
  const inherited = Object.entries(packages[parent] ?? {}).filter(
    ([key]) => key === 'dev' || key === 'devOptional',
  )
  packages[place] = inNpmOrder({ version, ...platform, ...Object.fromEntries(inherited), optional: true })
}

/** Where Node looks for `name` from inside `parent`, nearest first. */
function resolutionPlaces(packages: Packages, parent: string, name: string): string[] {
  const places: string[] = []
  for (let folder = parent; folder !== ''; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    if (packages[folder] !== undefined) places.push(`${folder}/node_modules/${name}`)
  }
  return [...places, `node_modules/${name}`]
}

const depth = (path: string) => path.split('node_modules/').length

const byNpm = (a: string, b: string) => a.localeCompare(b, 'en')

const inNpmOrder = ({ version, ...rest }: Entry): Entry => ({
  version,
  ...Object.fromEntries(Object.entries(rest).toSorted(([a], [b]) => byNpm(a, b))),
})

if (import.meta.main) {
  const before = readFileSync(lockPath, 'utf8')
  const after = completeLock(before)
  for (const entry of addedEntries(before, after)) console.log(`added ${entry}`)
  if (after === before) console.log('package-lock.json is complete')
  else if (process.argv.includes('--check')) process.exitCode = 1
  else writeFileSync(lockPath, after)
}
