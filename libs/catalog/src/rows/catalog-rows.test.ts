import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newCatalog, operator, ready } from '../fixtures/new-catalog.ts'
import { someTool } from '../fixtures/some-tool.ts'
import { beginBuild, recordProgress } from './begin-build.ts'
import { dropOldImages } from './drop-old-images.ts'
import type { WithinFailure } from './finish-build.ts'
import { finishBuild } from './finish-build.ts'
import { listCostBudgets } from './list-cost-budgets.ts'
import { listImages } from './list-images.ts'
import { listScans, pruneScans } from './list-scans.ts'
import { noteLostImages } from './note-lost-images.ts'
import { readProgress } from './read-progress.ts'
import { readCatalogState, requestReload } from './request-reload.ts'
import { retryBuilds } from './retry-builds.ts'
import { rollBack } from './roll-back.ts'
import { setToolEnabled } from './set-tool-enabled.ts'
import { readToolsSwitch, setToolsSwitch } from './tools-switch.ts'
import { wantImages } from './want-images.ts'

test('a tool is building, then ready, then a change builds while it serves', async () => {
  const { publish, build, see } = await newCatalog()
  assert.deepEqual(await publish({ tools: [someTool('a', '1')] }), ['a'])
  assert.deepEqual((await see('a'))?.image, { state: 'building', error: null })
  assert.equal((await see('a'))?.servingHash, null)
  assert.equal(await build('a', '1'), true)
  assert.deepEqual([(await see('a'))?.image.state, (await see('a'))?.servingHash], ['ready', 'a-1'])

  await publish({ tools: [someTool('a', '2', { description: 'new' })] })
  const between = await see('a')
  assert.deepEqual(
    [between?.image.state, between?.servingHash, between?.wantedHash, between?.manifest?.description],
    ['building', 'a-1', 'a-2', 'What a does'],
  )
  await build('a', '2')
  const after = await see('a')
  assert.deepEqual([after?.servingHash, after?.manifest?.description], ['a-2', 'new'])
})

test('a build that fails tells why, and the version before serves', async () => {
  const { pool, publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  await build('a', '1')
  await publish({ tools: [someTool('a', '2')] })
  assert.equal(await build('a', '2', { kind: 'error', detail: 'apt: no such package' }), false)
  const seen = await see('a')
  assert.deepEqual(
    [seen?.image, seen?.servingHash],
    [{ state: 'error', error: 'apt: no such package' }, 'a-1'],
  )
  assert.deepEqual(await wantImages(pool, 'e1'), [], 'an error of the author is not built again by itself')
  await retryBuilds(pool, 'e1', 'all')
  assert.deepEqual(await wantImages(pool, 'e1'), [{ tool: 'a', hash: 'a-2' }])
})

test('that an image cannot be built is told once for all engines, and not of what the folder holds no more', async () => {
  const { publish, build } = await newCatalog()
  const told: string[] = []
  const within: WithinFailure = async (_, { tool, hash, error }) => void told.push(`${tool} ${hash} ${error}`)
  const broken = { kind: 'error', detail: 'no such base' } as const
  await publish({ tools: [someTool('a', '1')] })
  await build('a', '1', broken, { within })
  await build('a', '1', broken, { within, engineId: 'e2' })
  assert.deepEqual(told, ['a a-1 no such base'])
  await publish({ tools: [someTool('a', '2')] })
  await publish({ tools: [someTool('a', '3')] })
  await build('a', '3', undefined, { within })
  assert.equal(told.length, 1, 'one that is built is no failure')
  await publish({ tools: [someTool('a', '4')] })
  for (let time = 1; time <= 5; time++) {
    assert.equal(told.length, 1, `a fault of the engine that is tried again, after ${time - 1}`)
    await build('a', '4', { kind: 'fault', detail: 'the engine is away' }, { within })
  }
  assert.deepEqual(told.slice(1), ['a a-4 the engine is away'])
})

test('a failure is not written when it cannot be told', async () => {
  const { publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  const within: WithinFailure = () => Promise.reject(new Error('no room'))
  await assert.rejects(build('a', '1', { kind: 'error', detail: 'no such base' }, { within }), /no room/)
  assert.equal((await see('a'))?.image.state, 'building')
})

test('what a tool may spend on a day is listed, of those that serve and have a limit', async () => {
  const { pool, publish, build } = await newCatalog()
  const costly = { constraints: { cost_budget: 2.5 } }
  await publish({ tools: [someTool('a', '1', costly), someTool('b', '1'), someTool('c', '1', costly)] })
  await build('a', '1')
  await build('b', '1')
  assert.deepEqual([...(await listCostBudgets(pool))], [['a', 2.5]])
})

test('faults of the engine are tried again five times before they are told as an error', async () => {
  const { publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  for (let time = 1; time <= 4; time++) {
    await build('a', '1', { kind: 'fault', detail: 'the engine is away' })
    assert.equal((await see('a'))?.image.state, 'building', `after ${time}`)
  }
  await build('a', '1', { kind: 'fault', detail: 'the engine is away' })
  assert.deepEqual((await see('a'))?.image, { state: 'error', error: 'the engine is away' })
})

test('each engine has images of its own, and one that is ready is enough to serve', async () => {
  const { pool, publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  await wantImages(pool, 'e2')
  await build('a', '1', { kind: 'error', detail: 'no disk' }, { engineId: 'e2' })
  assert.equal((await see('a'))?.image.state, 'error')
  await build('a', '1')
  assert.equal((await see('a'))?.image.state, 'ready')
  assert.deepEqual(await listImages(pool, 'e1'), [{ hash: 'a-1', imageId: 'sha256:1' }])
  assert.deepEqual(await listImages(pool, 'e2'), [{ hash: 'a-1', imageId: null }])
})

test('a build whose folder has moved on does not serve, and none begins for it', async () => {
  const { pool, publish, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  await wantImages(pool, 'e1')
  assert.ok(await beginBuild(pool, 'a-1', 'e1'))
  await publish({ tools: [someTool('a', '2')] })
  assert.equal(
    await finishBuild(pool, { tool: 'a', hash: 'a-1', engineId: 'e1', result: ready('sha256:1') }),
    false,
  )
  assert.equal((await see('a'))?.servingHash, null)
  assert.equal(await beginBuild(pool, 'a-1', 'e1'), undefined)
})

test('a rollback serves the version before until the folder changes', async () => {
  const { pool, publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  await build('a', '1')
  await publish({ tools: [someTool('a', '2')] })
  await build('a', '2')
  assert.deepEqual(await rollBack(pool, operator, 'a'), { from: 'a-2', to: 'a-1' })
  assert.deepEqual([(await see('a'))?.servingHash, (await see('a'))?.wantedHash], ['a-1', 'a-1'])
  assert.deepEqual(
    await publish({ tools: [someTool('a', '2')] }, 'w2'),
    [],
    'another worker does not undo it',
  )
  assert.deepEqual(await rollBack(pool, operator, 'a', 'a-2'), { from: 'a-1', to: 'a-2' })
  await rollBack(pool, operator, 'a')
  await publish({ tools: [someTool('a', '3')] })
  await build('a', '3')
  assert.equal((await see('a'))?.servingHash, 'a-3')
  await assert.rejects(rollBack(pool, operator, 'a', 'b'), /no other version beginning b/)
  await assert.rejects(rollBack(pool, operator, 'a', 'a-'), /2 versions begin a-/)
  await assert.rejects(rollBack(pool, operator, 'zz'), /Unknown tool: zz/)
})

test('a tool that is removed is not listed, and comes back with its versions', async () => {
  const { publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  await build('a', '1')
  await publish({})
  assert.equal(await see('a'), undefined)
  await publish({ tools: [someTool('a', '1')] })
  assert.deepEqual([(await see('a'))?.image.state, (await see('a'))?.servingHash], ['ready', 'a-1'])
})

test('a broken folder is listed with its faults, and disturbs nobody', async () => {
  const { publish, build, see, catalog } = await newCatalog()
  const faults = [{ folder: 'My Tool', faults: ['manifest.json /name: is required', 'no Dockerfile'] }]
  await publish({ tools: [someTool('a', '1')], faults })
  await build('a', '1')
  const { tools } = await catalog.view()
  assert.deepEqual(tools.map(({ name, image }) => `${name}: ${image.state}`).toSorted(), [
    'My Tool: error',
    'a: ready',
  ])
  assert.match((await see('My Tool'))?.image.error ?? '', /\/name: is required\nno Dockerfile/)
  assert.equal((await see('My Tool'))?.manifest, undefined)
})

test('images that somebody removed are built again', async () => {
  const { pool, publish, build, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  await build('a', '1')
  assert.deepEqual(await noteLostImages(pool, 'e1', []), [], 'it was finished just now')
  await pool.query("update images set changed_at = changed_at - interval '2 minutes'")
  assert.deepEqual(await noteLostImages(pool, 'e1', ['sha256:1']), [])
  assert.deepEqual(await noteLostImages(pool, 'e2', []), [])
  assert.deepEqual(await noteLostImages(pool, 'e1', []), ['a'])
  assert.equal((await see('a'))?.image.state, 'building')
  assert.deepEqual(await wantImages(pool, 'e1'), [{ tool: 'a', hash: 'a-1' }])
})

test('old versions lose their images after a grace time, but for those that one can go back to', async () => {
  const { pool, publish, build } = await newCatalog()
  for (const hash of ['1', '2', '3', '4', '5']) {
    await publish({ tools: [someTool('a', hash), someTool('b', '1')] })
    await build('a', hash)
  }
  await build('b', '1')
  const rule = { engineId: 'e1', versionsKept: 3, graceSeconds: 3_600 }
  assert.equal(await dropOldImages(pool, rule), 0, 'not within the grace time')
  await pool.query("update images set changed_at = changed_at - interval '2 hours'")
  assert.equal(await dropOldImages(pool, rule), 2)
  const hashes = async () => (await listImages(pool, 'e1')).map(({ hash }) => hash).toSorted()
  assert.deepEqual(await hashes(), ['a-3', 'a-4', 'a-5', 'b-1'])
  await publish({ tools: [someTool('a', '5')] })
  assert.equal(await dropOldImages(pool, rule), 0, 'b was removed just now')
  await pool.query("update tools set removed_at = removed_at - interval '2 hours'")
  assert.equal(await dropOldImages(pool, rule), 1)
  assert.deepEqual(await hashes(), ['a-3', 'a-4', 'a-5'])
})

test('the switch and the tools are turned off and on, audited once for each change', async () => {
  const { pool, publish, see } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  assert.equal(await readToolsSwitch(pool), true)
  await setToolsSwitch(pool, operator, false)
  await setToolsSwitch(pool, operator, false)
  assert.equal(await readToolsSwitch(pool), false)
  await setToolEnabled(pool, operator, 'a', false)
  await setToolEnabled(pool, operator, 'a', false)
  assert.equal((await see('a'))?.enabled, false)
  await assert.rejects(setToolEnabled(pool, operator, 'b', false), /Unknown tool: b/)
  const { rows } = await pool.query<{ action: string; target: string }>(
    'select action, target from audit order by id',
  )
  assert.deepEqual(rows, [
    { action: 'tools.disable', target: 'switch:tools_enabled' },
    { action: 'tool.disable', target: 'tool:a' },
  ])
  await pool.query('delete from switches')
  assert.equal(await readToolsSwitch(pool), false, 'a switch that is not there is off')
})

test('a view is read again when the epoch has moved, and only then', async () => {
  const { pool, publish, catalog } = await newCatalog()
  await publish({ tools: [someTool('a', '1')] })
  const first = await catalog.view()
  assert.equal(await catalog.view(), first)
  await publish({ tools: [someTool('a', '1')] })
  assert.equal(await catalog.view(), first, 'a reading that finds nothing new moves nothing')
  await wantImages(pool, 'e1')
  await beginBuild(pool, 'a-1', 'e1')
  await recordProgress(pool, { hash: 'a-1', engineId: 'e1', line: 'Step 1/3' })
  assert.equal(await readProgress(pool, 'a'), 'Step 1/3')
  await setToolEnabled(pool, operator, 'a', false)
  assert.notEqual(await catalog.view(), first)
})

test('fifty workers that publish and build at once agree', async () => {
  const { pool, publish, build, see } = await newCatalog()
  const tools = ['a', 'b', 'c', 'd'].map((name) => someTool(name, '1'))
  const changed = await Promise.all(Array.from({ length: 50 }, (_, n) => publish({ tools }, `w${n}`)))
  assert.deepEqual(
    changed.filter((names) => names.length > 0),
    [['a', 'b', 'c', 'd']],
  )
  await Promise.all(tools.map(({ name }) => build(name, '1')))
  for (const { name } of tools) assert.equal((await see(name))?.servingHash, `${name}-1`)
  const scans = await listScans(pool, new Set(['w1', 'w2']))
  assert.deepEqual(
    scans.map((scan) => scan.tool_count),
    [4, 4],
  )
  await pool.query("update catalog_scans set scanned_at = scanned_at - interval '2 days'")
  await pruneScans(pool, new Set(['w1']))
  assert.equal((await pool.query('select from catalog_scans')).rowCount, 1)
})

test('a wish to reload is numbered', async () => {
  const { pool } = await newCatalog()
  assert.equal(await requestReload(pool), 1)
  assert.equal(await requestReload(pool), 2)
  assert.equal((await readCatalogState(pool)).reload, 2)
})
