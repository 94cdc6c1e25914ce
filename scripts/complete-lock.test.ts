import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { addedEntries, completeLock, platformOf } from './complete-lock.ts'

type Entry = Record<string, unknown>

const lockText = (packages: Record<string, Entry>) =>
  `${JSON.stringify({ name: 'toolyard', lockfileVersion: 3, packages }, null, 2)}\n`

const parent = (version: string, optionalDependencies: Record<string, string>): Entry => ({
  version,
  dev: true,
  optionalDependencies,
})

test('a binary that the lock lacks is added as npm would write it, in its place and order', () => {
  const before = lockText({
    '': { name: 'toolyard' },
    'node_modules/@tool/linux-x64': {
      version: '1.2.3',
      integrity: 'sha512-x',
      cpu: ['x64'],
      dev: true,
      optional: true,
      os: ['linux'],
    },
    'node_modules/tool': parent('1.2.3', {
      '@tool/linux-x64': '1.2.3',
      '@tool/linux-arm64-musl': '1.2.3',
      '@tool/windows-64': '1.2.3',
    }),
  })
  const after = completeLock(before)
  const expected = lockText({
    '': { name: 'toolyard' },
    'node_modules/@tool/linux-arm64-musl': {
      version: '1.2.3',
      cpu: ['arm64'],
      dev: true,
      libc: ['musl'],
      optional: true,
      os: ['linux'],
    },
    'node_modules/@tool/linux-x64': {
      version: '1.2.3',
      integrity: 'sha512-x',
      cpu: ['x64'],
      dev: true,
      optional: true,
      os: ['linux'],
    },
    'node_modules/@tool/windows-64': {
      version: '1.2.3',
      cpu: ['x64'],
      dev: true,
      optional: true,
      os: ['win32'],
    },
    'node_modules/tool': parent('1.2.3', {
      '@tool/linux-x64': '1.2.3',
      '@tool/linux-arm64-musl': '1.2.3',
      '@tool/windows-64': '1.2.3',
    }),
  })
  assert.equal(after, expected)
  assert.deepEqual(addedEntries(before, after), [
    'node_modules/@tool/linux-arm64-musl@1.2.3',
    'node_modules/@tool/windows-64@1.2.3',
  ])
})

test('completing a complete lock changes no byte', () => {
  const once = completeLock(
    lockText({ 'node_modules/tool': parent('1.0.0', { 'tool-darwin-arm64': '1.0.0' }) }),
  )
  assert.equal(completeLock(once), once)
  assert.deepEqual(addedEntries(once, once), [])
})

test('two versions of one binary both find a place, the shallower parent at the root', () => {
  const after = completeLock(
    lockText({
      'node_modules/knife': { version: '9.0.0' },
      'node_modules/knife/node_modules/tool': parent('1.0.0', { 'tool-darwin-x64': '1.0.0' }),
      'node_modules/tool': parent('2.0.0', { 'tool-darwin-x64': '2.0.0' }),
    }),
  )
  const added = addedEntries(lockText({}), after).filter((entry) => entry.includes('darwin'))
  assert.deepEqual(added, [
    'node_modules/knife/node_modules/tool-darwin-x64@1.0.0',
    'node_modules/tool-darwin-x64@2.0.0',
  ])
})

test('an entry of ours that an upgrade left behind is replaced, and goes where nobody asks for it', () => {
  const left = { version: '1.0.0', cpu: ['x64'], optional: true, os: ['darwin'] }
  const after = completeLock(
    lockText({
      'node_modules/tool': parent('2.0.0', { 'tool-darwin-x64': '2.0.0' }),
      'node_modules/tool-aix-ppc64': left,
      'node_modules/tool-darwin-x64': left,
    }),
  )
  assert.deepEqual(addedEntries(lockText({}), after), [
    'node_modules/tool@2.0.0',
    'node_modules/tool-darwin-x64@2.0.0',
  ])
})

test('a range takes the least version that it allows, and whatever satisfies it already', () => {
  const ranged = (range: string, present: Record<string, Entry> = {}) =>
    addedEntries(
      lockText({}),
      completeLock(lockText({ ...present, 'node_modules/tool': parent('1.0.0', { fsevents: range }) })),
    )
  assert.ok(ranged('^2.3.2').includes('node_modules/fsevents@2.3.2'))
  assert.ok(ranged('~2.3.2 || ^3.0.0').includes('node_modules/fsevents@2.3.2'))
  const present = {
    'node_modules/fsevents': { version: '2.3.9', integrity: 'sha512-x', optional: true, os: ['darwin'] },
  }
  assert.ok(ranged('^2.3.2', present).includes('node_modules/fsevents@2.3.9'))
})

test('a name that tells no platform is refused rather than guessed', () => {
  const lock = lockText({ 'node_modules/tool': parent('1.0.0', { 'tool-plan9': '1.0.0' }) })
  assert.throws(() => completeLock(lock), /cannot place tool-plan9@1\.0\.0/)
  const anyVersion = lockText({ 'node_modules/tool': parent('1.0.0', { 'tool-linux-x64': '*' }) })
  assert.throws(() => completeLock(anyVersion), /cannot place tool-linux-x64@\*/)
})

test('platforms are read from the names that are in use', () => {
  const cases: [string, ReturnType<typeof platformOf>][] = [
    ['@turbo/darwin-64', { os: ['darwin'], cpu: ['x64'] }],
    ['@turbo/windows-arm64', { os: ['win32'], cpu: ['arm64'] }],
    ['@oxlint/binding-linux-x64-gnu', { os: ['linux'], cpu: ['x64'], libc: ['glibc'] }],
    ['@oxlint/binding-linux-arm-musleabihf', { os: ['linux'], cpu: ['arm'], libc: ['musl'] }],
    ['@oxlint/binding-win32-ia32-msvc', { os: ['win32'], cpu: ['ia32'] }],
    ['@oxlint/binding-android-arm-eabi', { os: ['android'], cpu: ['arm'] }],
    ['@oxfmt/binding-openharmony-arm64', { os: ['openharmony'], cpu: ['arm64'] }],
    ['@msgpackr-extract/msgpackr-extract-linux-arm', { os: ['linux'], cpu: ['arm'] }],
    ['fsevents', { os: ['darwin'] }],
    ['cpu-features', undefined],
  ]
  for (const [name, platform] of cases) assert.deepEqual(platformOf(name), platform, name)
})

test('what npm knows of a present binary and what its name says agree, for all of this lock', () => {
  const text = readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8')
  const { packages }: { packages: Record<string, Entry> } = JSON.parse(text)
  const binaries = Object.entries(packages).filter(
    ([, entry]) => entry['integrity'] !== undefined && Array.isArray(entry['os']),
  )
  assert.ok(binaries.length > 20)
  for (const [path, { os, cpu, libc }] of binaries) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const known = platformOf(name)
    // One binary may serve more systems than its name says, as the static ones of Linux do for Android.
    assert.ok(Array.isArray(os) && os.includes(known?.os[0]), name)
    assert.deepEqual(known?.cpu, cpu, name)
    if (libc !== undefined) assert.deepEqual(known?.libc, libc, name)
  }
})
