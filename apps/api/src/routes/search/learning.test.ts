import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SearchAnswer } from '@toolyard/contract/search'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'
import { searchGround } from '../../fixtures/search-ground.ts'

// An agent that searches, calls what stands first, and says which search led to it.

const ground = await searchGround({
  forecast_one: 'Tells the weather forecast of a city',
  forecast_two: 'Tells the weather forecast of a city',
  quote: 'Price of a share at the exchange',
  jukebox: 'Plays music and songs',
  translate: 'Translates a text into another language',
})
const { pool, search, call, warm } = ground
await warm()

const orderOf = async (query: string, topic: string) =>
  (await search({ body: { query, topic } })).tools.map(({ name }) => name)
const forecasts = (names: readonly string[]) => names.filter((name) => name.startsWith('forecast'))

/** All that comes of the query alone, and not of the memory. */
const scoresOf = ({ tools }: SearchAnswer) =>
  new Map(tools.map(({ name, relevance, explain }) => [name, [relevance, explain?.score, explain?.learned]]))

/** One turn of the agent. */
async function act(query: string, topic: string, works: (tool: string) => boolean) {
  const { search_id: searchId, tools } = await search({ body: { query, topic } })
  const tool = tools[0]?.name ?? ''
  await call({ tool, works: works(tool), searchId, topic })
  return tool
}

test('a tool that starts failing sinks below its twin within 10 outcomes, and rises again when it recovers', async () => {
  const query = 'weather forecast for tomorrow'
  for (let turn = 0; turn < 12; turn += 1) await act(query, 'trip', () => true)
  const [leader = '', twin = ''] = forecasts(await orderOf(query, 'trip'))
  let outcomes = 0
  while (outcomes < 10 && (await act(query, 'trip', (tool) => tool !== leader)) === leader) outcomes += 1
  assert.ok(outcomes < 10, `it still stands first after ${outcomes} failures`)
  assert.equal(forecasts(await orderOf(query, 'trip'))[0], twin)

  // Somebody goes on calling it: it fails some more, then works again, and then its twin starts failing.
  const use = async (tool: string, works: boolean) => {
    const { search_id: searchId } = await search({ body: { query, topic: 'trip' } })
    await call({ tool, works, searchId, topic: 'trip' })
  }
  for (let i = outcomes; i < 10; i += 1) await use(leader, false)
  const finalOf = async (tool: string) =>
    (await search({ body: { query, topic: 'trip' } })).tools.find(({ name }) => name === tool)?.final ?? 0
  const sunk = await finalOf(leader)
  for (let i = 0; i < 15; i += 1) await use(leader, true)
  assert.ok((await finalOf(leader)) > 3 * sunk)
  let failures = 0
  while (failures < 10 && (await act(query, 'trip', (tool) => tool !== twin)) === twin) failures += 1
  assert.ok(failures < 10, `not above its twin after ${failures} failures of that`)
  assert.equal(forecasts(await orderOf(query, 'trip'))[0], leader)
})

test('two topics with opposite experience see opposite orders, and a third sees neither', async () => {
  const query = 'will I need an umbrella'
  const cold = await search({ body: { query, topic: 'untaught' } })
  for (const [topic, works] of [
    ['red', 'forecast_one'],
    ['blue', 'forecast_two'],
  ] as const) {
    for (const tool of ['forecast_one', 'forecast_two', 'forecast_one', 'forecast_two']) {
      const { search_id: searchId } = await search({ body: { query, topic } })
      await call({ tool, works: tool === works, searchId, topic })
    }
  }
  assert.deepEqual(forecasts(await orderOf(query, 'red')), ['forecast_one', 'forecast_two'])
  assert.deepEqual(forecasts(await orderOf(query, 'blue')), ['forecast_two', 'forecast_one'])
  const explain = (await search({ body: { query, topic: 'red' } })).tools[0]?.explain
  assert.ok((explain?.learned ?? 0) > 0.1, 'the words of the query were learned')
  assert.equal(explain?.memory?.topic, 'red')
  assert.deepEqual(scoresOf(await search({ body: { query, topic: 'untaught' } })), scoresOf(cold))
})

test('another process, and one that starts later, give the same order by the same numbers', async () => {
  const query = 'songs for the evening'
  const other = await ground.startApi()
  const body = { query, topic: 'shared' }
  await search({ api: other, body })
  for (const [tool, works] of [
    ['jukebox', true],
    ['translate', true],
    ['translate', false],
    ['quote', true],
  ] as const) {
    const { search_id: searchId } = await search({ body })
    await call({ tool, works, searchId, topic: 'shared' })
    const here = await search({ body })
    const there = await search({ api: other, body })
    assert.deepEqual(there.tools, here.tools)
  }
  const asked = ground.embeddings.asked.length
  const later = await ground.startApi()
  const first = await search({ api: later, body })
  assert.deepEqual(first.tools, (await search({ body })).tools)
  assert.equal(first.searched_by, 'meaning and words')
  assert.deepEqual(ground.embeddings.asked.slice(asked), [query], 'nothing of the tools is embedded again')
})

test('feedback corrects what an outcome has taught', async () => {
  const body = { query: 'what does it cost', topic: 'feedback' }
  const { search_id: searchId } = await search({ body })
  const id = await call({ tool: 'jukebox', works: true, searchId, topic: 'feedback' })
  const before = await search({ body })
  assert.equal(before.tools[0]?.name, 'jukebox')
  const { token } = await makeKey(pool, { scopes: ['tools:invoke', 'tools:read'] })
  const api = await ground.startApi()
  const given = await fetch(`${api.url}/invocations/${id}/feedback`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify({ feedback: -1 }),
  })
  assert.equal(given.status, 200)
  const { explain } = (await search({ body })).tools.find(({ name }) => name === 'jukebox') ?? {}
  assert.ok((explain?.penalty ?? 0) > 0)
  assert.equal(explain?.learned, 0)
})

test('with the search of another key, or of another topic, nothing is learned', async () => {
  const stranger = await makeKey(pool, { scopes: ['tools:read', 'tools:invoke'] })
  const body = { query: 'the secret plan', topic: 'guarded' }
  const theirs = await search({ body, token: stranger.token })
  const elsewhere = await search({ body: { ...body, topic: 'elsewhere' } })
  const unnamed = await search({ body: { query: body.query } })
  for (const { search_id: searchId } of [theirs, elsewhere, unnamed])
    await call({ tool: 'quote', works: true, searchId, topic: 'guarded' })
  const { rows } = await pool.query("select 1 from lessons where query = 'the secret plan'")
  assert.deepEqual(rows, [])
  const { tools } = await search({ body })
  assert.ok(tools.every(({ explain }) => explain?.learned === 0))
})

test('what is forgotten leaves no trace in the score, here and in other processes', async () => {
  const body = { query: 'cheer me up', topic: 'diary' }
  const other = await ground.startApi()
  const cold = await search({ body })
  const { search_id: searchId } = cold
  await call({ tool: 'jukebox', works: true, searchId, topic: 'diary' })
  const taught = await search({ body, api: other })
  assert.ok((taught.tools.find(({ name }) => name === 'jukebox')?.explain?.learned ?? 0) > 0)
  const { token } = await makeKey(pool, { scopes: ['tools:manage'] })
  const forget = (query: string) =>
    fetch(`${other.url}/memory/lessons${query}`, { method: 'DELETE', headers: bearer(token) })
  assert.deepEqual(await (await forget('?topic=diary&tool=quote')).json(), { forgotten: 0 })
  assert.deepEqual(await (await forget('?topic=diary')).json(), { forgotten: 1 })
  const here = await search({ body })
  const there = await search({ body, api: other })
  for (const after of [here, there]) assert.deepEqual(scoresOf(after), scoresOf(cold))
})
