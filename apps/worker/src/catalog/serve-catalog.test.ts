import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestReload } from '@toolyard/catalog/request-reload'
import { rollBack } from '@toolyard/catalog/roll-back'
import { openExtraEngine } from '@toolyard/testkit/extra-engine'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { namedImage, openCatalogGround, someFolder } from '../fixtures/catalog-ground.ts'

const operator = { actor: { kind: 'operator' } } as const

const builtIn = (lines: readonly string[]) =>
  lines.flatMap((line) => {
    // safe because the logger writes objects
    const { message, tool } = JSON.parse(line) as Record<string, unknown>
    return message === 'an image was built' ? [String(tool)] : []
  })

test('two workers that start at once on an empty engine build each image once', async () => {
  const ground = await openCatalogGround()
  const names = ['a', 'b', 'c', 'd']
  for (const name of names) await ground.write(someFolder(name))
  const [one] = await Promise.all([ground.startWorker('w1'), ground.startWorker('w2')])
  for (const name of names) await ground.until('is ready', name, ({ image }) => image.state === 'ready')
  assert.deepEqual(builtIn(ground.lines).toSorted(), names)
  assert.deepEqual((await ground.images()).map(({ tool }) => tool).toSorted(), names)
  await waitUntil('the worker is ready', () => one.parts()['tools']?.state === 'ready')
  assert.equal(one.parts()['tools']?.detail, '4 tools')
})

test('a restart builds nothing that is there', async () => {
  const ground = await openCatalogGround()
  await ground.write(someFolder('a'))
  const first = await ground.startWorker('w1')
  await ground.until('is ready', 'a', ({ image }) => image.state === 'ready')
  await first.stop()
  const before = ground.lines.length
  const second = await ground.startWorker('w2')
  await waitUntil('it has read', () => second.parts()['tools']?.state === 'ready')
  await ground.write(someFolder('b'))
  await requestReload(ground.pool)
  await ground.until('is ready', 'b', ({ image }) => image.state === 'ready')
  assert.deepEqual(builtIn(ground.lines.slice(before)), ['b'])
})

test('two engines: each builds its own', async (t) => {
  const extra = await openExtraEngine('plain')
  t.after(() => extra.close())
  const ground = await openCatalogGround()
  await ground.write(someFolder('a'))
  const one = await ground.startWorker('w1')
  const two = await ground.startWorker('w2', { dockerHost: extra.dockerHost })
  assert.notEqual(one.engineId, two.engineId)
  await waitUntil('both have it', async () => {
    const rows = await ground.pool.query("select from images where state = 'ready'")
    return rows.rowCount === 2
  })
  assert.equal((await ground.images()).length, 1)
  assert.equal((await ground.images(extra.dockerHost)).length, 1)
  await two.stop()
})

test('while watched, a change serves once it is built, and a removal is seen', async () => {
  const ground = await openCatalogGround()
  await ground.write(someFolder('a'))
  await ground.startWorker('w1', { watch: true })
  const first = await ground.until('is ready', 'a', ({ image }) => image.state === 'ready')
  await ground.write(someFolder('a', 'two'))
  await ground.until('serves the change', 'a', (tool) => tool.servingHash !== first.servingHash)
  await ground.write(someFolder('a'))
  await ground.until('serves the first again', 'a', (tool) => tool.servingHash === first.servingHash)
  assert.equal(builtIn(ground.lines).length, 2, 'the same content is not built twice')
  await ground.remove('a')
  await waitUntil('it is gone', async () => !(await ground.catalog.view()).byName.has('a'))
})

test('not watched, a change waits for a wish to reload', async (t) => {
  const ground = await openCatalogGround()
  await ground.write(someFolder('a'))
  await ground.startWorker('w1')
  const first = await ground.until('is ready', 'a', ({ image }) => image.state === 'ready')
  await ground.write({ ...someFolder('a', 'two'), ...someFolder('b') })
  // The worker asks for wishes at each of its turns; nobody else asks meanwhile.
  const asked = t.mock.method(ground.pool, 'query')
  const turns = () => asked.mock.calls.filter(({ arguments: [text] }) => /reload from/.test(text))
  await waitUntil('three turns to have begun', () => turns().length >= 3)
  asked.mock.restore()
  const { byName } = await ground.catalog.view()
  assert.deepEqual(byName.get('a'), first)
  assert.equal(byName.has('b'), false)
  await requestReload(ground.pool)
  await ground.until('serves the change', 'a', (tool) => tool.servingHash !== first.servingHash)
  await ground.until('is ready', 'b', ({ image }) => image.state === 'ready')
})

test('a broken Dockerfile shows the build’s own error, and the version before serves', async () => {
  const ground = await openCatalogGround()
  await ground.write(someFolder('a'))
  await ground.startWorker('w1', { watch: true })
  const first = await ground.until('is ready', 'a', ({ image }) => image.state === 'ready')
  await ground.write({ 'a/Dockerfile': 'FROM scratch\nCOPY nothing /runner\nENTRYPOINT ["/runner"]\n' })
  const broken = await ground.until('is broken', 'a', ({ image }) => image.state === 'error')
  assert.match(broken.image.error ?? '', /nothing/)
  assert.equal(broken.servingHash, first.servingHash)
  await ground.write({ 'a/Dockerfile': someFolder('a')['a/Dockerfile'] ?? '' })
  await ground.until('is mended', 'a', ({ image }) => image.state === 'ready')
})

test('a broken manifest lists every fault and disturbs nobody', async () => {
  const ground = await openCatalogGround()
  await ground.write(someFolder('good'))
  await ground.write({ 'bad/manifest.json': '{"name": "other", "parameters": {"x": {"type": "strin"}}}' })
  await ground.startWorker('w1')
  await ground.until('is ready', 'good', ({ image }) => image.state === 'ready')
  const bad = await ground.until('is told of', 'bad', ({ image }) => image.state === 'error')
  for (const fault of [/\/description/, /\/trigger/, /\/returns/, /\/parameters\/x\/type/, /Dockerfile/])
    assert.match(bad.image.error ?? '', fault)
})

test('an image that somebody removes is built again', async () => {
  const ground = await openCatalogGround()
  await ground.write(someFolder('a'))
  const worker = await ground.startWorker('w1')
  await ground.until('is ready', 'a', ({ image }) => image.state === 'ready')
  await ground.pool.query(
    "update images set image_id = 'sha256:gone', changed_at = now() - interval '1 hour'",
  )
  worker.doubtImages()
  const rebuilt = () =>
    ground.pool.query("select from images where state = 'ready' and image_id <> 'sha256:gone'")
  await waitUntil('it is there again', async () => (await rebuilt()).rowCount === 1, 30_000)
})

test('the name for docker run follows what serves, on every engine', async (t) => {
  const extra = await openExtraEngine('plain')
  t.after(() => extra.close())
  const ground = await openCatalogGround()
  const name = `named_${ground.instance}`
  await ground.write(someFolder(name))
  await ground.startWorker('w1', { watch: true })
  const other = await ground.startWorker('w2', { dockerHost: extra.dockerHost })
  const first = await ground.until('is ready', name, ({ image }) => image.state === 'ready')
  const isNamed = (hash: string | null, dockerHost?: string) => async () => {
    const images = await ground.images(dockerHost)
    return (await namedImage(name, dockerHost)) === images.find((image) => image.hash === hash)?.id
  }
  await waitUntil('it is named here', isNamed(first.servingHash))
  await waitUntil('it is named there', isNamed(first.servingHash, extra.dockerHost), 30_000)
  await ground.write(someFolder(name, 'two'))
  const second = await ground.until(
    'serves the second',
    name,
    ({ servingHash }) => servingHash !== first.servingHash,
  )
  await waitUntil('the name has moved on', isNamed(second.servingHash))
  const { to } = await rollBack(ground.pool, operator, name)
  assert.equal(to, first.servingHash)
  await waitUntil('the name has moved back', isNamed(first.servingHash))
  await other.stop()
})
