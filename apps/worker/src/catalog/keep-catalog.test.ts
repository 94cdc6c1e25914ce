import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { beginBuild } from '@toolyard/catalog/begin-build'
import { finishBuild } from '@toolyard/catalog/finish-build'
import { requestReload } from '@toolyard/catalog/request-reload'
import type { Scan } from '@toolyard/catalog/scan-tools'
import { wantImages } from '@toolyard/catalog/want-images'
import { manifest } from '@toolyard/contract/manifest'
import { createLogger } from '@toolyard/log/logger'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { keepCatalog } from './keep-catalog.ts'

const log = createLogger({ service: 'worker', level: 'debug', destination: { write: () => {} } })

function scanOf(...names: string[]): Scan {
  const tools = names.map((name) => ({
    name,
    dir: `/tools/${name}`,
    entries: [],
    hash: `${name}-1`,
    manifest: manifest.parse({
      name,
      description: 'What it does',
      trigger: { type: 'on_demand' },
      parameters: {},
      returns: {},
    }),
  }))
  return { tools, faults: [], unsettled: [], contentHash: names.join() }
}

/** A worker whose folders and engine are the test's to say. */
async function openWorker(t: TestContext, scan: () => Scan) {
  const { pool } = await testDatabase()
  const engine: { id: string | undefined } = { id: 'e1' }
  let published = 0
  const start = (processId: string) => {
    const keeper = keepCatalog({
      pool,
      log,
      processId,
      schemaFits: Promise.resolve(),
      scan: async () => scan(),
      engineId: () => engine.id,
      onPublished: () => void (published += 1),
    })
    t.after(() => keeper.stop())
    return keeper
  }
  const build = async (result: Parameters<typeof finishBuild>[1]['result']) => {
    await wantImages(pool, 'e1')
    assert.ok(await beginBuild(pool, 'a-1', 'e1'))
    await finishBuild(pool, { tool: 'a', hash: 'a-1', engineId: 'e1', result })
  }
  return {
    pool,
    engine,
    start,
    keeper: start('w1'),
    publications: (count: number) => waitUntil(`publication ${count}`, () => published >= count),
    fail: () => build({ kind: 'error', detail: 'no such package' }),
    async failAtEngine() {
      for (let time = 0; time < 5; time++) await build({ kind: 'fault', detail: 'the engine is away' })
    },
    state: async () => (await pool.query<{ state: string }>('select state from images')).rows[0]?.state,
  }
}

test('a change whose reading fails is read again', async (t) => {
  const turns = [
    () => scanOf('a'),
    () => {
      throw new Error('EIO')
    },
    () => scanOf('a', 'b'),
  ]
  let turn = 0
  const worker = await openWorker(t, () => (turns[turn++] ?? (() => scanOf('a', 'b')))())
  await worker.publications(1)
  worker.keeper.change()
  await waitUntil('it is told', () => worker.keeper.part().state === 'unfit')
  await worker.publications(2)
  assert.ok(worker.keeper.found('b-1'))
  assert.equal(worker.keeper.part().state, 'ready')
})

test('a change while the folders are read is not lost', async (t) => {
  let reads = 0
  const worker = await openWorker(t, () => {
    reads += 1
    if (reads === 1) worker.keeper.change()
    return scanOf('a')
  })
  await worker.publications(2)
  assert.equal(reads, 2)
})

test('builds that failed are tried again on a wish and after a restart, and by themselves when the engine failed', async (t) => {
  const worker = await openWorker(t, () => scanOf('a'))
  await worker.publications(1)
  await worker.fail()
  await requestReload(worker.pool)
  await worker.publications(2)
  assert.equal(await worker.state(), 'wanted')

  await worker.fail()
  worker.engine.id = undefined
  await worker.publications(3)
  worker.engine.id = 'e1'
  await worker.publications(4)
  assert.equal(await worker.state(), 'error', 'an author’s')

  worker.start('w2')
  await worker.publications(5)
  assert.equal(await worker.state(), 'wanted')

  await worker.failAtEngine()
  assert.equal(await worker.state(), 'error')
  worker.engine.id = undefined
  await worker.publications(7)
  worker.engine.id = 'e1'
  await worker.publications(9)
  assert.equal(await worker.state(), 'wanted', 'the engine’s')
})
