import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMeanings } from '../fixtures/meanings.ts'
import type { Searcher } from './create-searcher.ts'
import { createSearcher } from './create-searcher.ts'
import { EmbedderError } from './embedding/embedder.ts'
import { analyze } from './text/analyze.ts'
import type { ToolText } from './text/tool-text.ts'
import type { MadeVectors } from './tool-vectors.ts'

const tool = (name: string, description: string): ToolText => ({
  name,
  description,
  parameters: [],
  examples: [],
})
const tools = [tool('sky', 'weather'), tool('market', 'stock price'), tool('radio', 'music')]
const nothing = new Map<string, Float32Array[]>()

/** What was made meanwhile. */
async function complete(searcher: Searcher): Promise<MadeVectors[]> {
  const made: MadeVectors[] = []
  await searcher.complete(async (one) => void made.push(one))
  return made
}

const keptOf = (made: readonly MadeVectors[]) =>
  new Map(made.map(({ textHash, vectors }) => [textHash, vectors]))

const ask = async (searcher: Searcher, query: string, topic: string | null = null) =>
  searcher.search({ query, vector: await searcher.embedQuery(query), topic })
const best = async (searcher: Searcher, query: string) => (await ask(searcher, query)).hits[0]?.tool

test('what was made once is made no more: not for tools that stay, not after a start, not for the same query', async () => {
  const { embedder, state } = openMeanings()
  const searcher = createSearcher(embedder)
  searcher.setTools(tools, nothing)
  assert.equal(searcher.isComplete(), false)
  const made = await complete(searcher)
  assert.equal(made.length, 4, 'three tools and the mean of questions')
  assert.equal(searcher.isComplete(), true)
  assert.equal(await best(searcher, 'umbrella'), 'sky')
  state.asked.splice(0)
  assert.deepEqual([searcher.neededHashes(tools), await complete(searcher)], [[], []])
  assert.equal(await best(searcher, 'umbrella'), 'sky')
  assert.deepEqual(state.asked, [])

  const again = createSearcher(embedder)
  assert.deepEqual(again.neededHashes(tools).toSorted(), made.map(({ textHash }) => textHash).toSorted())
  again.setTools(tools, keptOf(made))
  assert.equal(again.isComplete(), true)
  assert.equal(await best(again, 'umbrella'), 'sky')
  assert.deepEqual(state.asked, ['umbrella'])
})

test('vectors of another text, or of other dimensions, are not used (S2)', async () => {
  const first = createSearcher(openMeanings().embedder)
  first.setTools(tools, nothing)
  const kept = keptOf(await complete(first))
  const changed = createSearcher(openMeanings().embedder)
  changed.setTools([tool('sky', 'tunes'), ...tools.slice(1)], kept)
  assert.equal((await complete(changed)).length, 1)
  const longer = new Map([...kept].map(([hash]) => [hash, [new Float32Array(7)]]))
  const other = createSearcher(openMeanings().embedder)
  other.setTools(tools, longer)
  assert.equal((await complete(other)).length, 4)
})

test('a tool is found by its present text before its vectors are made, and one that is gone no more (S1)', async () => {
  const searcher = createSearcher(openMeanings().embedder)
  searcher.setTools(tools, nothing)
  await complete(searcher)
  searcher.setTools([tool('sky', 'zebra'), tool('new', 'giraffe')], nothing)
  const found = await ask(searcher, 'giraffe')
  assert.deepEqual([found.isSemantic, found.hits[0]?.tool], [false, 'new'], 'most have no vectors yet')
  assert.deepEqual(found.hits.map((hit) => hit.tool).toSorted(), ['new', 'sky'])
  await complete(searcher)
  assert.equal((await ask(searcher, 'giraffe')).isSemantic, true)
})

test('tools that change while vectors are made get those of what they say last', async () => {
  const searcher = createSearcher(openMeanings().embedder)
  searcher.setTools(tools, nothing)
  const first = complete(searcher)
  searcher.setTools([tool('sky', 'music'), tool('market', 'bond')], nothing)
  await Promise.all([first, complete(searcher)])
  const { hits } = await ask(searcher, 'melody')
  assert.deepEqual(
    hits.map((hit) => hit.tool),
    ['sky', 'market'],
  )
  assert.ok((hits[0]?.semantic ?? 0) > 0.5)
})

test('without an embedder the terms decide and say so, and the next time makes up for it', async () => {
  const { embedder, state } = openMeanings()
  let nowMs = 0
  const searcher = createSearcher(embedder, { monotonicMs: () => nowMs })
  state.isDown = true
  searcher.setTools(tools, nothing)
  await assert.rejects(complete(searcher), EmbedderError)
  const found = await ask(searcher, 'weather')
  assert.deepEqual([found.isSemantic, found.hits[0]?.tool], [false, 'sky'])
  state.isDown = false
  await complete(searcher)
  assert.equal(await searcher.embedQuery('umbrella'), null, 'nobody waits so soon after a failure')
  nowMs += 60_000
  assert.deepEqual(
    [(await ask(searcher, 'umbrella')).isSemantic, await best(searcher, 'umbrella')],
    [true, 'sky'],
  )
})

test('a query whose vector does not come in time is answered by words, and has it the next time', async () => {
  const { embedder, state } = openMeanings()
  const searcher = createSearcher(embedder, { patienceMs: 1 })
  searcher.setTools(tools, nothing)
  await complete(searcher)
  state.hold = Promise.withResolvers<void>()
  assert.equal((await ask(searcher, 'umbrella')).isSemantic, false)
  // The one that was given up on comes all the same.
  state.hold.resolve()
  await state.hold.promise
  assert.equal((await ask(searcher, 'umbrella')).isSemantic, true)
  assert.equal(state.asked.filter((text) => text === 'umbrella').length, 1)
})

test('a lesson is loaded as it was kept; of another model its terms teach alone', async () => {
  const { embedder } = openMeanings()
  const searcher = createSearcher(embedder)
  searcher.setTools(tools, nothing)
  await complete(searcher)
  const vector = Float32Array.from([0, 0, 0, 5])
  const lesson = {
    id: 'l',
    tool: 'radio',
    topic: 't',
    atMs: 1,
    reward: 0.3,
    terms: analyze('cheer me'),
    vector,
  }
  searcher.learn({ ...lesson, modelId: 'another' })
  const [byTerms] = (await ask(searcher, 'cheer me', 't')).hits
  assert.equal(byTerms?.tool, 'radio')
  assert.ok((byTerms?.learned ?? 0) > 0)
  searcher.learn({ ...lesson, modelId: embedder.modelId })
  const [byBoth] = (await ask(searcher, 'cheer me', 't')).hits
  assert.ok((byBoth?.learned ?? 0) > (byTerms?.learned ?? 0))
  searcher.forget({ tool: 'radio' })
  assert.equal((await ask(searcher, 'cheer me', 't')).hits[0]?.learned, 0)
})
