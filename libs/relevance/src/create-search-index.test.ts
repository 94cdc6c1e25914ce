import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSearchIndex } from './create-search-index.ts'
import type { SearchIndex } from './create-search-index.ts'
import { lessonsMax } from './learning/create-lessons.ts'
import type { Lesson } from './learning/lesson.ts'
import { analyze } from './text/analyze.ts'
import type { ToolText } from './text/tool-text.ts'

// Vectors of four dimensions by hand: what is meant, without a model.
const toolOf = (name: string, description: string): ToolText => ({
  name,
  description,
  parameters: [],
  examples: [],
})
const axis = (...values: number[]) => Float32Array.from({ length: 4 }, (_, i) => values[i] ?? 0)

function openIndex(): SearchIndex {
  const index = createSearchIndex(4)
  index.setTool(toolOf('weather', 'forecast of rain and sun'), [axis(1)])
  index.setTool(toolOf('stocks', 'prices of shares'), [axis(0, 1)])
  index.setTool(toolOf('music', 'plays songs'), [axis(0, 0, 1)])
  return index
}

const ask = (index: SearchIndex, text: string, vector: Float32Array | null, topic: string | null = null) =>
  index.search({ terms: analyze(text), vector, topic })

const lesson = (part: Partial<Lesson> & { id: string; tool: string }, text = ''): Lesson => ({
  topic: null,
  atMs: 0,
  reward: 0.3,
  terms: analyze(text),
  vector: null,
  ...part,
})

const order = (found: ReturnType<typeof ask>) => found.hits.map(({ tool }) => tool)
const hitOf = (found: ReturnType<typeof ask>, tool: string) => {
  const hit = found.hits.find((one) => one.tool === tool)
  assert.ok(hit)
  return hit
}

test('words and vectors each find what they can, and every number of the score is told', () => {
  const index = openIndex()
  assert.equal(order(ask(index, 'rain', null))[0], 'weather')
  assert.equal(order(ask(index, '', axis(0, 0.9, 0.1)))[0], 'stocks')
  index.learn(lesson({ id: 'l', tool: 'music', vector: axis(0, 0, 0.5, 0.5) }, 'something to dance'))
  index.learn(lesson({ id: 'm', tool: 'music', vector: axis(0, 0, 1), reward: -0.2 }, 'songs'))
  index.learn(lesson({ id: 'n', tool: 'stocks', vector: axis(0, 0.5) }, 'bonds'))
  for (const hit of ask(index, 'songs to dance', axis(0, 0.1, 0.9)).hits) {
    const { semantic, lexical, learned, correction, penalty } = hit
    assert.ok(Math.abs(hit.score - (semantic + lexical + learned - correction - penalty)) < 1e-9)
    assert.ok(hit.relevance > 0 && hit.relevance < 1)
  }
})

test('an empty index, or nothing that may be found, is an answer', () => {
  assert.deepEqual(ask(createSearchIndex(4), 'rain', axis(1)), { hits: [], fits: 0, nothingFits: true })
  const found = openIndex().search({ terms: ['rain'], vector: null, topic: null, among: new Set(['gone']) })
  assert.deepEqual(found.hits, [])
})

test('a tool that was changed or removed is never found by what it was (R3)', () => {
  const index = openIndex()
  index.setTool(toolOf('weather', 'tells jokes'), [axis(0, 0, 0, 1)])
  assert.equal(hitOf(ask(index, 'rain', null), 'weather').lexical, 0)
  index.removeTool('weather')
  assert.deepEqual(order(ask(index, 'jokes', axis(0, 0, 0, 1))).includes('weather'), false)
  assert.equal(index.toolCount(), 2)
})

test('what was learned of a removed tool waits for it', () => {
  const index = openIndex()
  index.learn(lesson({ id: 'l', tool: 'music' }, 'dance'))
  index.removeTool('music')
  assert.equal(order(ask(index, 'dance', null)).includes('music'), false)
  index.setTool(toolOf('music', 'plays songs'), [axis(0, 0, 1)])
  assert.equal(order(ask(index, 'dance', null))[0], 'music')
})

test('words that led to a tool lead to it again, by terms and by vector', () => {
  const index = openIndex()
  index.learn(lesson({ id: 'l', tool: 'music', vector: axis(0, 0, 0, 1) }, 'cheer me up'))
  assert.equal(order(ask(index, 'cheer', null))[0], 'music')
  assert.equal(order(ask(index, '', axis(0, 0, 0, 1)))[0], 'music')
})

test('what one topic was taught changes nothing in another, to the last bit (R1)', () => {
  const teach = fc.record({
    tool: fc.constantFrom('weather', 'stocks', 'music'),
    reward: fc.constantFrom(-1, -0.2, 0.3, 1),
    word: fc.constantFrom('dance', 'rain', 'bonds'),
    side: fc.integer({ min: 0, max: 3 }),
    topic: fc.constantFrom('secret', null),
  })
  fc.assert(
    fc.property(fc.array(teach, { maxLength: 30 }), (taught) => {
      const [index, untouched] = [openIndex(), openIndex()]
      for (const [i, { tool, reward, word, side, topic }] of taught.entries()) {
        const vector = Float32Array.from({ length: 4 }, (_, axisAt) => (axisAt === side ? 1 : 0))
        index.learn(lesson({ id: String(i), tool, topic, reward, vector, atMs: i }, word))
        ask(index, 'dance', vector, 'secret')
      }
      for (const text of ['dance', 'rain in town', 'bonds'])
        assert.deepEqual(
          ask(index, text, axis(0.5, 0.5), 'mine'),
          ask(untouched, text, axis(0.5, 0.5), 'mine'),
        )
    }),
    { numRuns: 50 },
  )
})

test('two topics with opposite experience see opposite orders', () => {
  const index = createSearchIndex(4)
  index.setTool(toolOf('one', 'does it'), [axis(1)])
  index.setTool(toolOf('two', 'does it'), [axis(1)])
  const vector = axis(0.8, 0.2)
  for (let i = 0; i < 3; i += 1)
    for (const [topic, good, bad] of [
      ['a', 'one', 'two'],
      ['b', 'two', 'one'],
    ] as const) {
      index.learn(lesson({ id: `${topic}+${i}`, tool: good, topic, vector }, 'report'))
      index.learn(lesson({ id: `${topic}-${i}`, tool: bad, topic, reward: -0.2, vector }, 'report'))
    }
  assert.deepEqual(order(ask(index, 'report', vector, 'a')), ['one', 'two'])
  assert.deepEqual(order(ask(index, 'report', vector, 'b')), ['two', 'one'])
})

test('failures push a tool down for like queries only, by a bounded amount, and successes make up for them', () => {
  const index = openIndex()
  for (let i = 0; i < 40; i += 1)
    index.learn(lesson({ id: `f${i}`, tool: 'weather', reward: -0.2, vector: axis(1, 0.2) }, 'rain'))
  assert.equal(hitOf(ask(index, 'rain', axis(0.1, 0, 0, 1)), 'weather').penalty, 0)
  const { penalty, learned } = hitOf(ask(index, 'rain', axis(1, 0.2)), 'weather')
  assert.ok(penalty > 0.3 && penalty <= 0.45 + 1e-9)
  assert.equal(learned, 0)
  for (let i = 0; i < 40; i += 1)
    index.learn(lesson({ id: `s${i}`, tool: 'weather', vector: axis(1, 0.2) }, 'rain'))
  assert.equal(hitOf(ask(index, 'rain', axis(1, 0.2)), 'weather').penalty, 0)
})

test('a higher reward teaches more, one of nothing teaches nothing', () => {
  const gain = (reward: number) => {
    const index = openIndex()
    index.learn(lesson({ id: 'l', tool: 'music', reward, vector: axis(0, 0, 0, 1) }, 'dance'))
    return hitOf(ask(index, 'dance', axis(0, 0, 0.5, 1)), 'music').learned
  }
  assert.equal(gain(0), 0)
  assert.ok(gain(1) > gain(0.3) && gain(0.3) > gain(0.1) && gain(0.1) > 0)
})

test('feedback on an outcome replaces what it taught', () => {
  const index = openIndex()
  index.learn(lesson({ id: 'l', tool: 'music', vector: axis(1) }, 'dance'))
  index.learn(lesson({ id: 'l', tool: 'music', vector: axis(1), reward: -1 }, 'dance'))
  const { learned, penalty } = hitOf(ask(index, 'dance', axis(1)), 'music')
  assert.equal(learned, 0)
  assert.ok(penalty > 0)
})

test('what is forgotten, by tool, by topic or by age, leaves no trace (R2)', () => {
  const forgettings = [{}, { topic: 't' }, { tool: 'music' }, { topic: 't', tool: 'music' }, { beforeMs: 10 }]
  for (const what of forgettings) {
    const index = openIndex()
    for (let i = 0; i < 5; i += 1)
      index.learn(
        lesson({ id: `${i}`, tool: 'music', topic: 't', atMs: i, vector: axis(0, 0, 0, 1) }, 'dance'),
      )
    assert.equal(order(ask(index, 'dance', axis(0, 0, 0, 1), 't'))[0], 'music')
    index.forget(what)
    assert.deepEqual(
      ask(index, 'dance', axis(0, 0, 0, 1), 't'),
      ask(openIndex(), 'dance', axis(0, 0, 0, 1), 't'),
      JSON.stringify(what),
    )
  }
})

test('forgetting touches what it names alone', () => {
  const index = openIndex()
  for (const [tool, topic, atMs] of [
    ['music', 't', 1],
    ['music', 'u', 1],
    ['stocks', 't', 1],
    ['music', 't', 9],
  ] as const)
    index.learn(lesson({ id: `${tool}${topic}${atMs}`, tool, topic, atMs }, `word${topic}${atMs} ${tool}x`))
  index.forget({ tool: 'music', topic: 't', beforeMs: 5 })
  assert.equal(hitOf(ask(index, 'wordt1 musicx', null, 't'), 'music').learned > 0, true)
  assert.equal(hitOf(ask(index, 'wordt9', null, 't'), 'music').learned > 0, true)
  assert.equal(hitOf(ask(index, 'wordu1', null, 'u'), 'music').learned > 0, true)
  assert.equal(hitOf(ask(index, 'stocksx', null, 't'), 'stocks').learned > 0, true)
})

test('of a tool in a topic the newest lessons are kept, and no more', () => {
  const index = openIndex()
  for (let i = 0; i <= lessonsMax; i += 1)
    index.learn(lesson({ id: `${i}`, tool: 'music', atMs: i }, `unique${i}`))
  assert.equal(hitOf(ask(index, 'unique0', null), 'music').learned, 0)
  assert.ok(hitOf(ask(index, `unique${lessonsMax}`, null), 'music').learned > 0)
})

test('a tool without outcomes does not sink because others have many', () => {
  const index = openIndex()
  // Questions are alike as questions are: along the fourth axis.
  for (let i = 0; i < 30; i += 1) {
    index.learn(lesson({ id: `w${i}`, tool: 'weather', vector: axis(0.7, 0, 0, 0.7), atMs: i }, 'tell rain'))
    index.learn(lesson({ id: `s${i}`, tool: 'stocks', vector: axis(0, 0.7, 0, 0.7), atMs: i }, 'tell shares'))
  }
  const found = ask(index, 'tell songs', axis(0, 0, 0.6, 0.7))
  assert.equal(order(found)[0], 'music')
  assert.ok(hitOf(found, 'weather').correction > 0)
})

test('tools beyond the reach change nothing of what is found, to the last bit (R4)', () => {
  const hidden = fc.record({
    name: fc.constantFrom('payroll', 'merger', 'rain'),
    text: fc.constantFrom('salaries of all', 'rain and sun', 'prices of songs'),
    side: fc.integer({ min: 0, max: 3 }),
    word: fc.constantFrom('dance', 'rain', 'bonds'),
    reward: fc.constantFrom(-1, 0.3),
  })
  const reach = ['stocks', 'weather', 'music']
  const searched = (index: SearchIndex, text: string) =>
    index.search({ terms: analyze(text), vector: axis(0.5, 0.4, 0.3), topic: 't', reach })
  fc.assert(
    fc.property(fc.array(hidden, { maxLength: 12 }), (others) => {
      const [index, alone] = [openIndex(), openIndex()]
      for (const one of [index, alone]) {
        one.learn(lesson({ id: 'own', tool: 'music', topic: 't', vector: axis(0, 0.2, 1) }, 'dance bonds'))
        searched(one, 'rain')
      }
      for (const [i, { name, text, side, word, reward }] of others.entries()) {
        const vector = Float32Array.from({ length: 4 }, (_, at) => (at === side ? 1 : 0))
        index.setTool(toolOf(name, text), [vector])
        index.learn(lesson({ id: `${i}`, tool: name, topic: 't', reward, vector, atMs: i }, word))
      }
      for (const text of ['dance', 'rain bonds', 'payroll of all songs'])
        assert.deepEqual(searched(index, text), searched(alone, text))
    }),
    { numRuns: 50 },
  )
})

test('within a reach too a tool is what it is now (R3), and what was learned of it counts', () => {
  const index = openIndex()
  const find = (text: string) =>
    index.search({ terms: analyze(text), vector: null, topic: null, reach: ['weather', 'music', 'none'] })
  assert.deepEqual(order(find('songs')), ['music', 'weather'])
  index.setTool(toolOf('music', 'tells jokes'), [])
  assert.equal(hitOf(find('songs'), 'music').lexical, 0)
  index.learn(lesson({ id: 'l', tool: 'weather' }, 'umbrella'))
  assert.ok(hitOf(find('umbrella'), 'weather').learned > 0)
  index.removeTool('music')
  assert.deepEqual(order(find('jokes')), ['weather'])
  index.setTool(toolOf('none', 'jokes'), [])
  assert.equal(order(find('jokes'))[0], 'none')
})

test('a view that is worked out in slices is the one that is worked out at once', () => {
  const [sliced, whole] = [openIndex(), openIndex()]
  for (const index of [sliced, whole])
    for (let i = 0; i < 150; i += 1) {
      const tool = ['weather', 'stocks', 'music'][i % 3] ?? ''
      index.learn(lesson({ id: `${i}`, tool, atMs: i, vector: axis(1, i % 5, i % 3) }, `word${i % 9} rain`))
    }
  let slices = 1
  while (!sliced.prepare({ topic: null }, -Infinity)) {
    slices += 1
    // What comes meanwhile is seen too, here and in the end.
    if (slices === 10)
      for (const index of [sliced, whole])
        index.learn(lesson({ id: 'late', tool: 'music', atMs: 999, vector: axis(0, 0, 1) }, 'word1 late'))
  }
  assert.ok(slices > 50, `${slices}`)
  assert.deepEqual(ask(sliced, 'word1 rain late', axis(1)), ask(whole, 'word1 rain late', axis(1)))
})

test('lessons that came before what questions have in common was known count as those that came after', () => {
  const mean = axis(0.1, 0.1, 0.1, 0.9)
  const taught = lesson({ id: 'l', tool: 'music', vector: axis(0.3, 0.2, 0.7, 0.4) }, 'dance')
  const [before, after] = [openIndex(), openIndex()]
  before.learn(taught)
  before.setReferenceMean(mean)
  after.setReferenceMean(mean)
  after.learn(taught)
  assert.deepEqual(ask(before, 'dance', axis(1, 1)), ask(after, 'dance', axis(1, 1)))
})
