import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginBuild } from '@toolyard/catalog/begin-build'
import { finishBuild } from '@toolyard/catalog/finish-build'
import { publishScan } from '@toolyard/catalog/publish-scan'
import { wantImages } from '@toolyard/catalog/want-images'
import type { Manifest } from '@toolyard/contract/manifest'
import type { Explanation } from '@toolyard/contract/search'
import { z } from 'zod'
import { bodyOf, problemOf, refusalOf } from '../../fixtures/answers.ts'
import { newManifest, testEngine } from '../../fixtures/published-tools.ts'
import { searchGround } from '../../fixtures/search-ground.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const ground = await searchGround({})
const { pool, ask, search, call, embeddings } = ground
const api = await ground.startApi()

const manifests = new Map(
  [
    newManifest('weather', {
      description: 'Tells the weather forecast of a city',
      category: 'outdoors',
      parameters: {},
    }),
    newManifest('umbrella', {
      description: 'Lends an umbrella for rain',
      category: 'outdoors',
      parameters: {},
    }),
    newManifest('quote', { description: 'Price of a share at the exchange', parameters: {} }),
    newManifest('mail', {
      description: 'Sends a letter to somebody',
      parameters: {},
      config_schema: { password: { description: 'Of the account', secret: true, required: true } },
    }),
    newManifest('digest', {
      description: 'Weather forecast of every morning',
      parameters: {},
      trigger: { type: 'cron', schedule: '0 7 * * *', prompt: 'Read it' },
    }),
  ].map((one) => [one.name, one]),
)

/** All tools as the folders have them now, each with its image. */
async function publish(version: number): Promise<void> {
  const hashOf = (one: Manifest) => `${one.name}-${version}`
  const tools = [...manifests.values()].map((one) => ({ name: one.name, hash: hashOf(one), manifest: one }))
  const reading = { processId: 'w', engineId: testEngine, reload: 0, contentHash: `c${version}` }
  await publishScan(pool, { ...reading, scan: { tools, faults: [], unsettled: [] } })
  await wantImages(pool, testEngine)
  for (const { name: tool, hash } of tools) {
    if ((await beginBuild(pool, hash, testEngine)) === undefined) continue
    const facts = { entrypoint: ['/a'], volumes: [], warnings: [] }
    const result = { kind: 'ready', imageId: 'sha256:a', facts } as const
    await finishBuild(pool, { tool, hash, engineId: testEngine, result })
  }
}
await publish(1)
await ground.warm()

const namesOf = async (body: Record<string, unknown>, token?: string) =>
  (await search({ body, ...(token === undefined ? {} : { token }) })).tools.map(({ name }) => name)

test('the best comes first, with all numbers of the order only where they are asked for', async () => {
  const answer = await search({ body: { query: 'weather forecast', explain: false } })
  const [best] = answer.tools
  assert.match(answer.search_id, /^srch_[0-9a-z]{26}$/)
  assert.deepEqual([answer.nothing_fits, answer.searched_by], [false, 'meaning and words'])
  assert.deepEqual(
    [best?.name, best?.description, best?.category, best?.status, best?.explain],
    ['weather', 'Tells the weather forecast of a city', 'outdoors', 'system', undefined],
  )
  assert.match(best?.reason ?? '', /^fits, mostly by its .+, no outcomes yet$/)
  assert.equal((await search({ body: { query: 'zebra giraffe' } })).nothing_fits, true)
})

test('every number adds up to what decides', async () => {
  await call({ tool: 'weather', works: true, topic: 'sums' })
  await call({ tool: 'weather', works: false, topic: 'sums' })
  const { tools } = await search({ body: { query: 'weather in the city', topic: 'sums' } })
  for (const { explain, relevance, memory, final } of tools) {
    assert.ok(explain)
    const { score, semantic, lexical, learned, correction, penalty, exploration } = explain
    assert.ok(Math.abs(score - (semantic + lexical + learned - correction - penalty)) < 1e-9)
    assert.ok(Math.abs(memory - factorOf(explain.memory)) < 1e-9)
    assert.ok(Math.abs(final - relevance * memory * exploration) < 1e-9)
  }
  const explained = new Map(tools.map(({ name, explain }) => [name, explain]))
  const [tried, fresh] = [explained.get('weather'), explained.get('quote')]
  assert.deepEqual([tried?.memory?.topic, tried?.memory?.attempts], ['sums', 2])
  assert.deepEqual([tried?.exploration.toFixed(4), fresh?.exploration], ['1.0577', 1.1])
})

const factorOf = (memory: Explanation['memory']) =>
  memory === null ? 1 : (memory.weight / memory.mean_weight) * (memory.recent ?? 1)

test('what could not be called is found only where it is asked for', async () => {
  const query = 'weather forecast letter'
  assert.deepEqual((await namesOf({ query, limit: 50 })).toSorted(), ['quote', 'umbrella', 'weather'])
  assert.deepEqual(await namesOf({ query, status: 'available' }), ['mail'])
  assert.deepEqual(await namesOf({ query, trigger: 'cron' }), ['digest'])
  assert.deepEqual(await namesOf({ query, trigger: 'webhook' }), [])
  assert.deepEqual(await namesOf({ query, category: 'outdoors' }), ['weather', 'umbrella'])
  assert.deepEqual(await namesOf({ query, category: 'outdoors', limit: 1 }), ['weather'])
  const none = await search({ body: { query, category: 'nobody' } })
  assert.deepEqual([none.tools, none.nothing_fits], [[], true])
})

test('as function schemas they go to a model as they are', async () => {
  const shape = z.strictObject({
    search_id: z.string(),
    nothing_fits: z.boolean(),
    searched_by: z.string(),
    tools: z.array(z.looseObject({})),
  })
  const schema = { type: 'object', properties: {}, required: [], additionalProperties: false }
  const described = { name: 'weather', description: 'Tells the weather forecast of a city' }
  for (const [format, first] of [
    ['openai', { type: 'function', function: { ...described, parameters: schema } }],
    ['anthropic', { ...described, input_schema: schema }],
    ['mcp', { ...described, inputSchema: schema }],
  ] as const) {
    const answer = await ask({ body: { query: 'weather forecast', limit: 1, format } })
    assert.deepEqual((await bodyOf(answer, shape)).tools, [first])
  }
})

test('a tool that is changed, switched off or taken away is so in the next answer', async () => {
  const switchTool = async (verb: string) => {
    const { token } = await makeKey(pool, { scopes: ['tools:manage'] })
    const done = await fetch(`${api.url}/tools/umbrella/${verb}`, { method: 'POST', headers: bearer(token) })
    assert.equal(done.status, 200)
  }
  const query = 'umbrella for rain'
  assert.equal((await namesOf({ query }))[0], 'umbrella')
  await switchTool('disable')
  assert.ok(!(await namesOf({ query })).includes('umbrella'))
  await switchTool('enable')
  assert.equal((await namesOf({ query }))[0], 'umbrella')

  manifests.set('umbrella', newManifest('umbrella', { description: 'Feeds the giraffe', parameters: {} }))
  manifests.set(
    'raincoat',
    newManifest('raincoat', { description: 'Lends a raincoat for rain', parameters: {} }),
  )
  manifests.delete('quote')
  await publish(2)
  const fed = await search({ body: { query: 'who feeds a giraffe' } })
  assert.deepEqual([fed.tools[0]?.name, fed.tools[0]?.description], ['umbrella', 'Feeds the giraffe'])
  assert.ok(!fed.tools.some(({ name }) => name === 'quote'))
  assert.ok((await namesOf({ query: 'rain' })).includes('raincoat'))
  await ground.warm()
  assert.equal((await namesOf({ query: 'who feeds a giraffe' }))[0], 'umbrella')
})

test('without the embedder words alone answer, and it is said', async () => {
  embeddings.state.isDown = true
  const down = await search({ body: { query: 'weather forecast of next week' } })
  assert.deepEqual([down.searched_by, down.tools[0]?.name], ['words', 'weather'])
  const kept = await search({ body: { query: 'weather forecast' } })
  assert.equal(kept.searched_by, 'meaning and words', 'of a query that is known already')
  const fresh = await search({ api: await ground.startApi(), body: { query: 'weather forecast' } })
  assert.deepEqual([fresh.searched_by, fresh.tools[0]?.name], ['words', 'weather'])
  const { search_id: searchId } = down
  await call({ tool: 'weather', works: true, searchId })
  const { rows } = await pool.query('select query, vector from lessons')
  assert.deepEqual(
    rows,
    [{ query: 'weather forecast of next week', vector: null }],
    'words can be learned too',
  )
  embeddings.state.isDown = false
})

test('a key that is bound to tools finds no others', async () => {
  const { token } = await makeKey(pool, { scopes: ['tools:read'], tools: ['umbrella'] })
  assert.deepEqual(await namesOf({ query: 'weather forecast' }, token), ['umbrella'])
})

test('a key that is bound to topics goes by theirs, and by the weight alone of what they do not know', async () => {
  const topics = ['mine', 'ours']
  await call({ tool: 'weather', works: false, topic: 'theirs' })
  const { token } = await makeKey(pool, { scopes: ['tools:read'], topics })
  const body = { query: 'weather forecast', topic: 'mine' }
  const { tools } = await search({ token, body })
  const memory = tools.find(({ name }) => name === 'weather')?.explain?.memory
  assert.deepEqual(Object.keys(memory ?? {}).toSorted(), ['mean_weight', 'topic', 'weight'])
  assert.equal(await refusalOf(await ask({ token, body: { ...body, topic: 'theirs' } })), '404 not_found')
  assert.equal(await refusalOf(await ask({ token, body: { query: 'x' } })), '422 topic_required')
  const single = await makeKey(pool, { scopes: ['tools:read'], topics: ['mine'] })
  assert.equal((await ask({ token: single.token, body: { query: 'x' } })).status, 200)
})

test('what cannot be searched for is refused, and the fault is pointed at', async () => {
  for (const [body, pointer] of [
    [{}, '/query'],
    [{ query: '' }, '/query'],
    [{ query: ' \n' }, '/query'],
    [{ query: 7 }, '/query'],
    [{ query: 'x'.repeat(2_001) }, '/query'],
    [{ query: 'a\0b' }, '/query'],
    [{ query: '\ud800' }, '/query'],
    [{ query: 'x', limit: 0 }, '/limit'],
    [{ query: 'x', limit: 51 }, '/limit'],
    [{ query: 'x', limit: 1.5 }, '/limit'],
    [{ query: 'x', topic: '' }, '/topic'],
    [{ query: 'x', topic: 'key:abc' }, '/topic'],
    [{ query: 'x', status: 'broken' }, '/status'],
    [{ query: 'x', trigger: 'never' }, '/trigger'],
    [{ query: 'x', format: 'xml' }, '/format'],
    [{ query: 'x', explain: 'yes' }, '/explain'],
    [{ query: 'x', category: '' }, '/category'],
    [{ query: 'x', unknown: 1 }, '/unknown'],
  ] as const) {
    const problem = await problemOf(await ask({ body }))
    assert.deepEqual(
      [problem.code, problem.faults?.[0]?.pointer],
      ['invalid_request', pointer],
      JSON.stringify(body),
    )
  }
  const plain = { method: 'POST', body: 'x' }
  const { token } = await makeKey(pool, { scopes: ['tools:read'] })
  const send = (more: RequestInit & { type?: string }) =>
    fetch(`${api.url}/tools/search`, {
      ...plain,
      ...more,
      headers: { ...bearer(token), 'content-type': more.type ?? 'application/json' },
    })
  assert.equal(await refusalOf(await send({ body: '{' })), '400 malformed_request')
  assert.equal(await refusalOf(await send({ type: 'text/plain' })), '415 unsupported_media_type')
  assert.equal(await refusalOf(await send({ body: `"${'x'.repeat(2_000_000)}"` })), '413 payload_too_large')
})

test('searching and forgetting ask for their scopes', async () => {
  const { token } = await makeKey(pool, { scopes: ['tools:invoke', 'memory:read'] })
  assert.equal(await refusalOf(await ask({ token, body: { query: 'x' } })), '403 missing_scope')
  const forget = (path: string, by = token) =>
    fetch(`${api.url}/memory/lessons${path}`, { method: 'DELETE', headers: bearer(by) })
  assert.equal(await refusalOf(await forget('?tool=weather')), '403 missing_scope')
  const manager = await makeKey(pool, { scopes: ['tools:manage'] })
  assert.equal(await refusalOf(await forget('', manager.token)), '422 invalid_request')
  assert.equal(await refusalOf(await forget('?tool=A', manager.token)), '422 invalid_request')
  assert.equal(await refusalOf(await forget('?toll=weather', manager.token)), '422 invalid_request')
  const bound = await makeKey(pool, { scopes: ['tools:manage'], tools: ['weather'] })
  assert.equal(await refusalOf(await forget('?tool=umbrella', bound.token)), '404 not_found')
  assert.equal(
    await refusalOf(await forget(`?topic=${encodeURIComponent('a\0')}`, manager.token)),
    '404 not_found',
  )
})
