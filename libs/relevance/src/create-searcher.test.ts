import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openMeanings } from '../fixtures/meanings.ts'
import type { Searcher } from './create-searcher.ts'
import { createSearcher } from './create-searcher.ts'
import { EmbedderError } from './embedding/embedder.ts'
import { analyze } from './text/analyze.ts'
import type { ToolText } from './text/tool-text.ts'
import type { MadeVectors } from './make-tool-vectors.ts'

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
  searcher.search({ query, vector: await searcher.embedQuery(query, 'k'), topic })
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
  assert.equal(await searcher.embedQuery('umbrella', 'k'), null, 'nobody waits so soon after a failure')
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
  await setImmediate()
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

test('a tool whose text is refused is found by its words, the others by their meaning too, and it is told which', async () => {
  const { embedder, state } = openMeanings()
  let nowMs = 0
  const searcher = createSearcher(embedder, { monotonicMs: () => nowMs })
  state.refused = 'forbidden'
  searcher.setTools([tool('aaa', 'forbidden zebra'), ...tools], nothing)
  const kept: MadeVectors[] = []
  const keep = async (made: MadeVectors) => void kept.push(made)
  assert.deepEqual(await searcher.complete(keep), ['aaa'])
  assert.equal(kept.length, 4, 'three tools and the mean of questions')
  assert.equal(searcher.isComplete(), true, 'nothing that could be done now')
  assert.equal(await best(searcher, 'umbrella'), 'sky')
  assert.equal(await best(searcher, 'zebra'), 'aaa')
  state.asked.splice(0)
  assert.deepEqual([await searcher.complete(keep), state.asked], [[], []], 'it is left alone for a while')
  nowMs += 3_600_000
  state.refused = undefined
  assert.equal(searcher.isComplete(), false)
  assert.deepEqual([await searcher.complete(keep), kept.length], [[], 5])
})

test('where one text after the other is refused, it is the embedder that fails', async () => {
  const { embedder, state } = openMeanings()
  const searcher = createSearcher(embedder)
  const many = Array.from({ length: 20 }, (_, i) => tool(`t${i}`, `bad number ${i}`))
  state.refused = 'bad'
  searcher.setTools(many, nothing)
  await assert.rejects(complete(searcher), EmbedderError)
  assert.ok(state.asked.filter((text) => text.includes('bad')).length <= 10)
})

test('a refused query is nobody’s business but that of who asked', async () => {
  const { embedder, state } = openMeanings()
  const searcher = createSearcher(embedder)
  state.refused = 'forbidden'
  assert.equal(await searcher.embedQuery('forbidden', 'evil'), null)
  assert.notEqual(await searcher.embedQuery('umbrella', 'good'), null)
})

test('while the embedder hangs nobody waits but the first, until it answers', async () => {
  const { embedder, state } = openMeanings()
  const searcher = createSearcher(embedder, { patienceMs: 1 })
  state.hold = Promise.withResolvers<void>()
  assert.equal(await searcher.embedQuery('one', 'k'), null)
  state.hold.resolve()
  state.hold = undefined
  assert.equal(await searcher.embedQuery('two', 'k'), null)
  await setImmediate()
  assert.notEqual(await searcher.embedQuery('three', 'k'), null)
  assert.deepEqual(state.asked, ['one', 'three'])
})

test('vectors come into the index together, now and then, so that topics are seldom worked out anew', async () => {
  const { embedder } = openMeanings()
  let nowMs = 0
  const searcher = createSearcher(embedder, { monotonicMs: () => nowMs })
  const many = Array.from({ length: 30 }, (_, i) => tool(`t${i}`, i % 2 === 0 ? 'weather' : 'music'))
  searcher.setTools(many, nothing)
  const semantics: boolean[] = []
  let made = 0
  await searcher.complete(async () => {
    made += 1
    const { hits } = searcher.search({ query: 'x', vector: Float32Array.of(1, 0, 0, 1), topic: null })
    semantics.push(hits.some(({ semantic }) => semantic !== 0))
    if (made === 29) nowMs += 5_000
  })
  assert.equal(semantics.length, 31)
  assert.deepEqual(semantics.indexOf(true), 29, 'with those of the five seconds')
})

test('many lessons are worked out in slices, and everything else has its turns', async () => {
  const { embedder } = openMeanings()
  const searcher = createSearcher(embedder)
  const names = Array.from({ length: 100 }, (_, i) => `t${i}`)
  searcher.setTools(
    names.map((name) => tool(name, 'weather music price')),
    nothing,
  )
  await complete(searcher)
  const words = names.map((name) => `${name} weather music price`).join(' ')
  for (let i = 0; i < 4_000; i += 1)
    searcher.learn({
      id: `l${i}`,
      tool: `t${i % 100}`,
      topic: 't',
      atMs: i,
      reward: 0.3,
      terms: analyze(words.slice(i % 50)),
      vector: Float32Array.of(1, i % 7, i % 3, 0.1),
      modelId: embedder.modelId,
    })
  let turns = 0
  const counting = setInterval(() => (turns += 1), 1)
  await searcher.prepare({ topic: 't' })
  clearInterval(counting)
  assert.ok(turns > 5, `only ${turns} turns`)
  const { hits } = searcher.search({ query: 'weather', vector: null, topic: 't' })
  assert.equal(hits.length, 100)
})
