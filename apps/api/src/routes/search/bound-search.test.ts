import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SearchAnswer } from '@toolyard/contract/search'
import { searchGround } from '../../fixtures/search-ground.ts'
import { makeKey } from '../../fixtures/test-keys.ts'

// What a key that is bound to tools is told by a search, where others have theirs.

const ground = await searchGround({
  weather: 'The weather in a city',
  radio: 'Plays songs',
  hidden: 'Payroll of the merger',
})
await ground.warm()
const { pool, search, call } = ground
const scopes = ['tools:read', 'tools:invoke'] as const
const topics = ['team']
const { token: victim } = await makeKey(pool, { scopes: [...scopes], topics, tools: ['hidden'] })
const { token: bound } = await makeKey(pool, { scopes: [...scopes], topics, tools: ['weather', 'radio'] })

const ask = (query: string, token = bound) => search({ body: { query, topic: 'team' }, token })

test('words of a tool that a key may not know of weigh as words that no tool says', async () => {
  const numbersOf = async (word: string) => {
    const { tools } = await ask(`weather ${word}`)
    return tools.map(({ name, explain }) => [name, explain?.lexical])
  }
  const unknown = await numbersOf('bananas')
  for (const word of ['payroll', 'merger']) assert.deepEqual(await numbersOf(word), unknown)
})

test('what others were taught of tools that a key may not know of changes nothing that it is told', async () => {
  const own = await ask('acquisition lawsuit')
  await call({ tool: 'weather', works: true, searchId: own.search_id, topic: 'team', token: bound })
  const before = await ask('lawsuit')
  assert.ok((before.tools.find(({ name }) => name === 'weather')?.explain?.learned ?? 0) > 0)
  const { search_id: searchId } = await ask('lawsuit details', victim)
  await call({ tool: 'hidden', works: true, searchId, topic: 'team', token: victim })
  const { rows } = await pool.query("select 1 from lessons where query = 'lawsuit details'")
  assert.equal(rows.length, 1)
  const after = await ask('lawsuit')
  const scores = ({ tools }: SearchAnswer) =>
    tools.map(({ name, relevance, explain }) => [name, relevance, { ...explain, memory: null }])
  assert.deepEqual(scores(after), scores(before))
})

test('where no tool says a word of the query, nothing fits, and it is said so', async () => {
  ground.embeddings.state.isDown = true
  const fresh = await ground.startApi()
  const answer = await search({ api: fresh, body: { query: 'xyzzy plugh' } })
  assert.equal(answer.nothing_fits, true)
  for (const { relevance, reason } of answer.tools) {
    assert.equal(relevance, 0)
    assert.match(reason, /^hardly fits, none of its words/)
  }
  const known = await search({ api: fresh, body: { query: 'weather in the city' } })
  assert.deepEqual([known.nothing_fits, known.searched_by, known.tools[0]?.name], [false, 'words', 'weather'])
})
