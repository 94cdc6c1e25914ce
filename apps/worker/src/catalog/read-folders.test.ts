import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scan } from '@toolyard/catalog/scan-tools'
import { describeFolders, toScannedFolders } from './read-folders.ts'

const nothing: Scan = { tools: [], faults: [], unsettled: [], contentHash: 'c' }
const broken = {
  folder: 'a',
  dir: 'tools/a',
  faults: [{ file: 'manifest.json', pointer: '/name', detail: 'is required' }],
}
const unread = { dir: 'tools', faults: [{ file: '.', detail: 'is not there' }] }

test('each fault of a folder becomes a line', () => {
  assert.deepEqual(toScannedFolders({ ...nothing, faults: [broken] }), {
    tools: [],
    faults: [{ folder: 'a', faults: ['a/manifest.json /name: is required'] }],
    unsettled: [],
    isPartial: false,
  })
})

test('a directory that cannot be read makes the reading a part of the whole', () => {
  const folders = toScannedFolders({
    ...nothing,
    faults: [unread],
    unsettled: [{ name: 'b', dir: 'tools/b' }],
  })
  assert.deepEqual(folders, { tools: [], faults: [], unsettled: ['b'], isPartial: true })
})

test('readyz tells of directories that are missing, not of authors', () => {
  assert.deepEqual(describeFolders(nothing, false), { state: 'ready', detail: '0 tools' })
  assert.deepEqual(describeFolders({ ...nothing, faults: [broken] }, true), {
    state: 'ready',
    detail: '0 tools, 1 broken; another worker has other tools',
  })
  assert.equal(describeFolders({ ...nothing, faults: [unread] }, false).state, 'missing')
})

test('folders of one name in two directories are one entry with the faults of both', () => {
  const twin = { ...broken, dir: 'more/a', faults: [{ file: '.', detail: 'is a twin' }] }
  assert.deepEqual(toScannedFolders({ ...nothing, faults: [broken, twin] }).faults, [
    { folder: 'a', faults: ['a/manifest.json /name: is required', 'a: is a twin'] },
  ])
})
