import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lexicalText, toolPassages } from './tool-text.ts'

const tool = {
  name: 'get_weather',
  description: 'Forecast for a city.',
  parameters: [{ name: 'cityName', description: 'Where, as in Oslo' }, { name: 'days' }],
  examples: ['will it rain tomorrow'],
}

test('the embedder is given names of parameters, not their descriptions', () => {
  assert.deepEqual(toolPassages(tool), [
    'Forecast for a city.',
    'get weather: Forecast for a city. Parameters: city Name, days',
    'will it rain tomorrow',
  ])
})

test('the lexical index is given everything', () => {
  const { terms, nameTerms, pairs } = lexicalText(tool)
  assert.deepEqual(terms.toSorted(), [
    'citi',
    'citi',
    'dai',
    'forecast',
    'name',
    'oslo',
    'rain',
    'tomorrow',
    'weather',
  ])
  assert.deepEqual(nameTerms, ['weather'])
  assert.deepEqual(pairs, ['forecast citi', 'rain tomorrow'])
})

test('however long a tool is described, passages are bounded', () => {
  const passages = toolPassages({
    ...tool,
    description: 'x'.repeat(99_999),
    examples: Array.from({ length: 500 }, () => 'y'),
  })
  assert.ok(passages.length <= 10 && passages.every((passage) => passage.length <= 1_500))
})
