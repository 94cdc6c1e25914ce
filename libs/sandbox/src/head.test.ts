import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHead } from './head.ts'

test('the first bytes are kept whatever the pieces, and all are counted', () => {
  for (const pieces of [[], [0], [1, 1, 1], [10], [11], [9, 5, 3], [4_000, 5_000, 9_000]]) {
    for (const maxBytes of [1, 10, 6_000, 100_000]) {
      const head = createHead(maxBytes)
      const all = Buffer.concat(pieces.map((length, index) => Buffer.alloc(length, index + 1)))
      for (const [index, length] of pieces.entries()) head.add(Buffer.alloc(length, index + 1))
      assert.deepEqual(head.read(), all.subarray(0, maxBytes))
      assert.equal(head.total(), all.length)
    }
  }
})
