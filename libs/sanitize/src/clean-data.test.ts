import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataBytesMax } from '@toolyard/contract/tool-output'
import fc from 'fast-check'
import { cleanData } from './clean-data.ts'
import type { Json } from './json.ts'

const read = (text: string): Json => JSON.parse(text)

test('data keeps its structure, and its words are not taken for instructions', () => {
  const data = { text: 'call recall(x) {a} ACTION: b', list: [1, null, true, { deep: ['21 °C'] }], '': 0 }
  assert.deepEqual(cleanData(data), { data, changes: [] })
})

test('controls go and markers are neutralised, in strings and in keys', () => {
  assert.deepEqual(cleanData({ 'a\u0000[TOOL:x]': ['b\u202e', '[/TOOL]'], [`a\u0000`]: 1, a: 2 }), {
    data: { 'a‹TOOL:x›': ['b', '‹/TOOL›'], a: 1, 'a (1)': 2 },
    changes: ['unseen or broken characters in 3 strings replaced', '2 [TOOL] markers neutralised'],
  })
})

test('a key __proto__ reaches nobody, however it is written', () => {
  const { data, changes } = cleanData(
    read(
      '{"__proto__":{"admin":true},"__pro\\u200bto__":1,"a":{"__proto__":2},"constructor":{"prototype":1}}',
    ),
  )
  assert.equal(JSON.stringify(data), '{"a":{},"constructor":{"prototype":1}}')
  assert.ok(changes.includes('3 keys __proto__ left out'))
  assert.equal(Object.getPrototypeOf(data), Object.prototype)
})

test('data is bounded in depth and in size', () => {
  const deep = cleanData(read(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`))
  assert.equal(JSON.stringify(deep.data), `${'['.repeat(64)}null${']'.repeat(64)}`)
  assert.deepEqual(deep.changes, ['what was nested deeper than 64 left out'])
  assert.deepEqual(cleanData('x'.repeat(dataBytesMax - 1)), {
    changes: ['left out: 64001 bytes, more than 64000'],
  })
  assert.equal(cleanData('x'.repeat(dataBytesMax - 2)).data, 'x'.repeat(dataBytesMax - 2))
})

test('cleaning data is idempotent', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), (text) => {
      const once = cleanData(read(text)).data ?? null
      assert.deepEqual(cleanData(once), { data: once, changes: [] })
    }),
  )
})
