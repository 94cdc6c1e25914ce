import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { newCatalog, operator, ready } from '../fixtures/new-catalog.ts'
import { someTool } from '../fixtures/some-tool.ts'
import { beginBuild } from './begin-build.ts'
import { dropOldImages } from './drop-old-images.ts'
import { finishBuild } from './finish-build.ts'
import { listImages } from './list-images.ts'
import { noteScan, pruneScans } from './list-scans.ts'
import { listVersions } from './list-versions.ts'
import { noteLostImages } from './note-lost-images.ts'
import { publishScan } from './publish-scan.ts'
import { retryBuilds } from './retry-builds.ts'
import { rollBack } from './roll-back.ts'
import { setToolEnabled } from './set-tool-enabled.ts'
import { readToolsSwitch, setToolsSwitch } from './tools-switch.ts'
import { wantImages } from './want-images.ts'

test('a publication locks the rows of tools in the order in which those who submit lock them', async () => {
  const { pool, publish } = await newCatalog()
  await publish({ tools: [someTool('a', '1'), someTool('b', '1')] })
  const submitter = await pool.connect()
  try {
    await submitter.query('begin')
    await submitter.query("select from tools where name = 'a' for no key update")
    const published = publish({
      tools: [someTool('a', '2')],
      faults: [{ folder: 'b', faults: ['gone bad'] }],
    })
    await waitUntil('the publication waits', async () => {
      const waiting = await pool.query(
        "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      )
      return waiting.rowCount === 1
    })
    await submitter.query("select from tools where name = 'b' for no key update")
    await submitter.query('commit')
    assert.deepEqual((await published).toSorted(), ['a', 'b'])
  } finally {
    submitter.release()
  }
})

test('callers that come together after a change share one reading', async () => {
  const { publish, catalog } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  const views = await Promise.all(Array.from({ length: 20 }, () => catalog.view()))
  assert.equal(new Set(views).size, 1)
  assert.equal(await catalog.view(), views[0])
})

test('no view is older than a change that was committed before it was asked for', async () => {
  const { pool, publish, catalog } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  for (let turn = 0; turn < 40; turn++) {
    const enabled = turn % 2 === 1
    const others = Array.from({ length: 5 }, () => catalog.view())
    await setToolEnabled(pool, operator, 'a', enabled)
    const [seen] = await Promise.all([catalog.view(), ...others])
    assert.equal(seen.byName.get('a')?.enabled, enabled, `turn ${turn}`)
  }
})

test('what a version keeps of the reading before is that of its own content', async () => {
  const { publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1'), someTool('b', '1')] })
  const before = await see('b')
  await publish({ tools: [someTool('a', '2', { description: 'new' }), someTool('b', '1')] })
  await build('a', '2')
  assert.equal((await see('a'))?.manifest?.description, 'new')
  assert.equal((await see('b'))?.manifest, before?.manifest, 'not parsed again')
})

test('an engine that joins and still builds is seen at once', async () => {
  const { pool, publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  await build('a', '1', { kind: 'error', detail: 'no disk' })
  assert.equal((await see('a'))?.image.state, 'error')
  await wantImages(pool, 'e2')
  assert.equal((await see('a'))?.image.state, 'building')
})

test('whoever lost the lock of a build takes no image away that another has made since', async () => {
  const { pool, publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  await build('a', '1')
  for (const kind of ['error', 'fault'] as const) {
    const late = { tool: 'a', hash: 'a-1', engineId: 'e1', result: { kind, detail: 'cut off' } } as const
    assert.equal(await finishBuild(pool, late), false)
    assert.deepEqual((await see('a'))?.image, { state: 'ready', error: null }, kind)
  }
})

test('a version without an image does not begin to serve', async () => {
  const { pool, publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  await build('a', '1')
  await publish({ tools: [someTool('a', '2')] })
  const unknown = { tool: 'a', hash: 'a-2', engineId: 'e1', result: ready('sha256:2') }
  assert.equal(await finishBuild(pool, unknown), false, 'nobody has a row of it')
  assert.equal((await see('a'))?.servingHash, 'a-1')
})

test('a rollback that names no version passes those that were rolled back from or never served', async () => {
  const { pool, publish, build } = await newCatalog()
  for (const hash of ['1', '2', '3']) {
    await publish({ tools: [someTool('a', hash)] })
    await build('a', hash)
  }
  assert.equal((await rollBack(pool, operator, 'a')).to, 'a-2')
  assert.equal((await rollBack(pool, operator, 'a')).to, 'a-1', 'not on to a-3, which is the bad one')

  await publish({ tools: [someTool('b', '1')] })
  await wantImages(pool, 'e1')
  assert.ok(await beginBuild(pool, 'b-1', 'e1'))
  await publish({ tools: [someTool('b', '2')] })
  await finishBuild(pool, { tool: 'b', hash: 'b-1', engineId: 'e1', result: ready('sha256:b1') })
  await build('b', '2')
  await assert.rejects(rollBack(pool, operator, 'b'), /no other version/)
  assert.equal((await rollBack(pool, operator, 'b', 'b-1')).to, 'b-1')
})

test('an image that nobody can build again is told as an error', async () => {
  const { pool, publish, build, see, age } = await newCatalog()
  for (const hash of ['1', '2']) {
    await publish({ tools: [someTool('a', hash)] })
    await build('a', hash)
  }
  await rollBack(pool, operator, 'a')
  await age()
  assert.deepEqual(await noteLostImages(pool, 'e1', ['sha256:2']), ['a'])
  const { state, error } = (await see('a'))?.image ?? {}
  assert.equal(state, 'error')
  assert.match(error ?? '', /its folder holds another/)
  await publish({ tools: [someTool('a', '1')] })
  assert.equal((await see('a'))?.image.state, 'building', 'the folder holds it again')
  assert.deepEqual(await wantImages(pool, 'e1'), [{ tool: 'a', hash: 'a-1' }])
})

test('a removed tool that comes back does not serve a version whose images are gone', async () => {
  const { pool, publish, build, see, age } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  await build('a', '1')
  await publish({})
  await age()
  await pool.query("update tools set removed_at = removed_at - interval '2 days'")
  assert.equal(await dropOldImages(pool, { engineId: 'e1', versionsKept: 3, graceSeconds: 86_400 }), 1)
  await publish({ tools: [someTool('a', '2')] })
  assert.deepEqual([(await see('a'))?.servingHash, (await see('a'))?.wantedHash], [null, 'a-2'])
})

test('builds that failed and whose folder has moved on are forgotten, however few versions served', async () => {
  const { pool, publish, build, age } = await newCatalog()
  for (let n = 1; n <= 20; n++) {
    await publish({ tools: [someTool('a', String(n))] })
    await build('a', String(n), { kind: 'error', detail: 'no such package' })
  }
  await age()
  assert.equal(await dropOldImages(pool, { engineId: 'e1', versionsKept: 3, graceSeconds: 3_600 }), 19)
  assert.deepEqual(await listImages(pool, 'e1'), [{ hash: 'a-20', imageId: null }])
})

test('a switch that was lost is off, and can be turned on', async () => {
  const { pool } = await newCatalog()
  await pool.query('delete from switches')
  await setToolsSwitch(pool, operator, true)
  assert.equal(await readToolsSwitch(pool), true)
  const { rows } = await pool.query('select action from audit')
  assert.deepEqual(rows, [{ action: 'tools.enable' }])
})

test('a name that Postgres could not hold is an unknown tool', async () => {
  const { pool } = await newCatalog()
  for (const name of ['a\0b', '\ud800'])
    for (const asked of [
      () => listVersions(pool, operator.actor, name),
      () => rollBack(pool, operator, name),
      () => setToolEnabled(pool, operator, name, false),
    ])
      await assert.rejects(asked, { code: 'unknown_tool' })
})

test('when an engine comes back, what it failed at is tried again, and what authors failed at is not', async () => {
  const { pool, publish, build } = await newCatalog()
  await publish({ tools: [someTool('a', '1'), someTool('b', '1')] })
  for (let time = 0; time < 5; time++) await build('a', '1', { kind: 'fault', detail: 'the engine is away' })
  await build('b', '1', { kind: 'error', detail: 'no such package' })
  assert.deepEqual(await wantImages(pool, 'e1'), [])
  await retryBuilds(pool, 'e1', 'faults')
  assert.deepEqual(await wantImages(pool, 'e1'), [{ tool: 'a', hash: 'a-1' }])
  await retryBuilds(pool, 'e1', 'all')
  assert.equal((await wantImages(pool, 'e1')).length, 2)
})

test('what Postgres cannot hold of an image ends its build as an error, and not as one without end', async () => {
  const { publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1'), someTool('b', '1'), someTool('c', '1')] })
  const facts = { entrypoint: ['/a\0b'], volumes: [], warnings: [] }
  assert.equal(await build('a', '1', { kind: 'ready', imageId: 'sha256:1', facts }), false)
  assert.match((await see('a'))?.image.error ?? '', /U\+0000/)
  await build('b', '1', { kind: 'error', detail: 'said \0 and \ud800' })
  assert.deepEqual((await see('b'))?.image, { state: 'error', error: 'said \ufffd and \ufffd' })
  await build('c', '1', { kind: 'fault', detail: 'said \0' })
  assert.equal((await see('c'))?.image.state, 'building')
})

test('an engine that no worker has had for a day is forgotten, and one that is only away is not', async () => {
  const { pool, publish, build, see, age } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  await build('a', '1')
  await age()
  const publishAt = (processId: string, engineId: string | undefined) =>
    publishScan(pool, {
      processId,
      engineId,
      reload: 0,
      contentHash: 'c',
      scan: { tools: [someTool('a', '1')], faults: [], unsettled: [] },
    })
  const state = async () => (await see('a'))?.image.state
  const later = () => pool.query("update catalog_scans set scanned_at = scanned_at - interval '25 hours'")
  await pruneScans(pool, new Set())
  assert.equal(await state(), 'ready', 'its worker has just been there')
  await publishAt('w2', undefined)
  await later()
  await noteScan(pool, 'w1')
  await pruneScans(pool, new Set(['w2']))
  assert.equal(await state(), 'ready', 'w1 was there until now')
  await publishAt('w2', 'e2')
  await later()
  await pruneScans(pool, new Set(['w2']))
  assert.equal(await state(), 'building', 'nobody has e1 any more')
  assert.deepEqual(await listImages(pool, 'e1'), [])
  const { rows } = await pool.query('select process_id from catalog_scans')
  assert.deepEqual(rows, [{ process_id: 'w2' }])
})

test('of workers that come and go the newest reading of each engine is kept', async () => {
  const { pool } = await newCatalog()
  await pool.query(`
    insert into catalog_scans (process_id, engine_id, reload, content_hash, tool_count, scanned_at)
    select 'w' || n, case when n % 3 > 0 then 'e' || n % 3 end, 0, 'c', 0, now() - make_interval(mins => 20 + n)
    from generate_series(1, 300) as n`)
  await pruneScans(pool, new Set())
  const { rows } = await pool.query('select process_id from catalog_scans order by process_id')
  assert.deepEqual(rows, [{ process_id: 'w1' }, { process_id: 'w2' }])
})
