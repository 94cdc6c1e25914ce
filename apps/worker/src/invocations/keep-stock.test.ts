import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCatalog } from '@toolyard/catalog/create-catalog'
import { beginBuild } from '@toolyard/catalog/begin-build'
import { finishBuild } from '@toolyard/catalog/finish-build'
import { publishScan } from '@toolyard/catalog/publish-scan'
import { setToolEnabled } from '@toolyard/catalog/set-tool-enabled'
import { wantImages } from '@toolyard/catalog/want-images'
import { manifest } from '@toolyard/contract/manifest'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { keepStock } from './keep-stock.ts'
import { createVersionReader } from './read-version.ts'

const { pool } = await testDatabase()
const facts = { entrypoint: ['/run'], volumes: [], warnings: [] }
const call = { actor: { kind: 'operator' }, requestId: 'req_1' } as const

async function serve(name: string, version: string, stock?: number): Promise<void> {
  const hash = `${name}-${version}`
  const parsed = manifest.parse({
    name,
    description: 'd',
    trigger: { type: 'on_demand' },
    parameters: {},
    returns: {},
    ...(stock === undefined ? {} : { sandbox: { stock } }),
  })
  const scan = { tools: [{ name, hash, manifest: parsed }], faults: [], unsettled: [], isPartial: true }
  await publishScan(pool, { processId: 'p', engineId: 'e1', reload: 0, contentHash: 'c', scan })
  await wantImages(pool, 'e1')
  await beginBuild(pool, hash, 'e1')
  await finishBuild(pool, {
    tool: name,
    hash,
    engineId: 'e1',
    result: { kind: 'ready', imageId: `sha256:${hash}`, facts },
  })
}

test('what serving versions ask for is kept ready, and what is not asked for any more is let go', async (t) => {
  await serve('warm', '1', 2)
  await serve('plain', '1')
  const wanted = new Map<string, number>()
  let engine: string | undefined = 'e1'
  const catalog = createCatalog(pool)
  const first = await catalog.view()
  await serve('late', '1')
  const keeper = keepStock({
    pool,
    catalog,
    first,
    sandboxes: { stock: (spec, count) => void wanted.set(`${spec.tool} ${spec.image}`, count) },
    engineId: () => engine,
    readVersion: createVersionReader(),
    onFailure: (error) => assert.fail(String(error)),
    everyMs: 5,
  })
  t.after(() => keeper.stop())
  assert.deepEqual(keeper.knownNames(), ['plain', 'warm'], 'known from the beginning')
  const until = (what: string, expected: Record<string, number>) =>
    waitUntil(what, () => JSON.stringify(Object.fromEntries(wanted)) === JSON.stringify(expected))

  await until('the stock of the first version', { 'warm sha256:warm-1': 2 })
  assert.deepEqual(keeper.knownNames(), ['late', 'plain', 'warm'])
  await serve('warm', '2', 3)
  await until('the next version to take over', { 'warm sha256:warm-1': 0, 'warm sha256:warm-2': 3 })
  await setToolEnabled(pool, call, 'warm', false)
  await until('a disabled tool to have none', { 'warm sha256:warm-1': 0, 'warm sha256:warm-2': 0 })
  await setToolEnabled(pool, call, 'warm', true)
  await until('it to be back', { 'warm sha256:warm-1': 0, 'warm sha256:warm-2': 3 })
  engine = undefined
  await until('nothing without an engine', { 'warm sha256:warm-1': 0, 'warm sha256:warm-2': 0 })
})
