import assert from 'node:assert/strict'
import { test } from 'node:test'
import { porterStem } from './porter-stem.ts'

test("stems as Porter's own examples show, step by step", () => {
  const examples = {
    caresses: 'caress',
    ponies: 'poni',
    ties: 'ti',
    cats: 'cat',
    feed: 'feed',
    agreed: 'agre',
    plastered: 'plaster',
    motoring: 'motor',
    sing: 'sing',
    conflated: 'conflat',
    troubled: 'troubl',
    sized: 'size',
    hopping: 'hop',
    falling: 'fall',
    hissing: 'hiss',
    fizzed: 'fizz',
    failing: 'fail',
    filing: 'file',
    happy: 'happi',
    sky: 'sky',
    relational: 'relat',
    conditional: 'condit',
    valenci: 'valenc',
    digitizer: 'digit',
    radicalli: 'radic',
    operator: 'oper',
    decisiveness: 'decis',
    sensibiliti: 'sensibl',
    triplicate: 'triplic',
    formative: 'form',
    electrical: 'electr',
    hopeful: 'hope',
    goodness: 'good',
    revival: 'reviv',
    allowance: 'allow',
    adjustment: 'adjust',
    adoption: 'adopt',
    effective: 'effect',
    probate: 'probat',
    rate: 'rate',
    cease: 'ceas',
    controlling: 'control',
    roll: 'roll',
    generalizations: 'gener',
    oscillators: 'oscil',
    yes: 'ye',
  }
  assert.deepEqual(
    Object.fromEntries(Object.keys(examples).map((word) => [word, porterStem(word)])),
    examples,
  )
})

test('what is no English word comes back as it is', () => {
  for (const word of ['', 'is', 'x1', '2024', 'naïve', 'straße', '東京']) assert.equal(porterStem(word), word)
})

test('a long word without end takes no long time', () => {
  const from = performance.now()
  porterStem(`${'ab'.repeat(20_000)}ing`)
  assert.ok(performance.now() - from < 1_000)
})
