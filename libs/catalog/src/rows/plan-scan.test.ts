import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Manifest } from '@toolyard/contract/manifest'
import { manifest } from '@toolyard/contract/manifest'
import type { ScannedTool, ToolRow } from './plan-scan.ts'
import { planScan } from './plan-scan.ts'

const someManifest: Manifest = manifest.parse({
  name: 'a',
  description: 'a',
  trigger: { type: 'on_demand' },
  parameters: {},
  returns: {},
})
const found = (name: string, hash: string): ScannedTool => ({ name, hash, manifest: someManifest })
const row = (name: string, more: Partial<ToolRow> = {}): ToolRow => ({
  name,
  wanted_hash: 'one',
  current_hash: 'one',
  refused_hash: null,
  faults: [],
  is_removed: false,
  ...more,
})
const noImages = () => false
const allImages = () => true

test('a folder that is new is wanted, and serves once it has an image', () => {
  const plan = planScan([], { tools: [found('a', 'one')], faults: [], unsettled: [] }, noImages)
  assert.deepEqual(plan, [row('a', { current_hash: null })])
})

test('nothing new changes nothing', () => {
  assert.deepEqual(
    planScan([row('a')], { tools: [found('a', 'one')], faults: [], unsettled: [] }, allImages),
    [],
  )
})

test('while a changed folder is built, the version before serves', () => {
  const plan = planScan([row('a')], { tools: [found('a', 'two')], faults: [], unsettled: [] }, noImages)
  assert.deepEqual(plan, [row('a', { wanted_hash: 'two' })])
})

test('a change that is taken back serves at once when its image is still there', () => {
  const before = row('a', { wanted_hash: 'two', current_hash: 'two' })
  const plan = planScan(
    [before],
    { tools: [found('a', 'one')], faults: [], unsettled: [] },
    (_tool, hash) => hash === 'one',
  )
  assert.deepEqual(plan, [row('a')])
})

test('what was rolled back from stays refused while the folder holds it, and no longer', () => {
  const before = row('a', { wanted_hash: 'two', refused_hash: 'two' })
  assert.deepEqual(
    planScan([before], { tools: [found('a', 'two')], faults: [], unsettled: [] }, allImages),
    [],
  )
  const plan = planScan([before], { tools: [found('a', 'three')], faults: [], unsettled: [] }, noImages)
  assert.deepEqual(plan, [row('a', { wanted_hash: 'three' })])
})

test('a folder that broke keeps its version and tells why', () => {
  const scan = { tools: [], faults: [{ folder: 'a', faults: ['no Dockerfile'] }], unsettled: [] }
  assert.deepEqual(planScan([row('a')], scan, noImages), [row('a', { faults: ['no Dockerfile'] })])
  const mended = planScan(
    [row('a', { faults: ['x'] })],
    { tools: [found('a', 'one')], faults: [], unsettled: [] },
    allImages,
  )
  assert.deepEqual(mended, [row('a')])
})

test('a folder that never worked is told of all the same', () => {
  const scan = { tools: [], faults: [{ folder: 'b', faults: ['no manifest'] }], unsettled: [] }
  assert.deepEqual(planScan([], scan, noImages), [
    row('b', { wanted_hash: null, current_hash: null, faults: ['no manifest'] }),
  ])
})

test('a folder that is gone leaves the name of what runs, and comes back as it was', () => {
  const gone = planScan([row('a')], { tools: [], faults: [], unsettled: [] }, noImages)
  assert.deepEqual(gone, [row('a', { wanted_hash: null, is_removed: true })])
  assert.deepEqual(planScan(gone, { tools: [], faults: [], unsettled: [] }, noImages), [])
  const back = { tools: [found('a', 'one')], faults: [], unsettled: [] }
  assert.deepEqual(planScan(gone, back, allImages), [row('a')])
  assert.deepEqual(planScan(gone, back, noImages), [row('a', { current_hash: null })])
  const broken = { tools: [], faults: [{ folder: 'a', faults: ['bad'] }], unsettled: [] }
  assert.equal(planScan(gone, broken, noImages)[0]?.current_hash, null)
})

test('a folder that is being copied is not gone', () => {
  assert.deepEqual(planScan([row('a')], { tools: [], faults: [], unsettled: ['a'] }, noImages), [])
})

test('while a directory of tools cannot be read, none of its tools is taken for gone', () => {
  const scan = { tools: [], faults: [], unsettled: [], isPartial: true }
  assert.deepEqual(planScan([row('a')], scan, noImages), [])
})
