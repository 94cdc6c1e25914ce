import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idBytes } from './id-bytes.ts'

test('no byte is given twice, and every value comes', () => {
  const seen = new Set<string>()
  const values = new Set<number>()
  const sizes = [16, 8, 16, 5, 16, 16]
  for (let turn = 0; turn < 5_000; turn++) {
    const size = sizes[turn % sizes.length] ?? 16
    const bytes = idBytes(size)
    assert.equal(bytes.length, size)
    if (size === 16) seen.add(bytes.toString('hex'))
    for (const byte of bytes) values.add(byte)
  }
  assert.equal(
    seen.size,
    Array.from({ length: 5_000 }, (_, turn) => sizes[turn % 6]).filter((size) => size === 16).length,
  )
  assert.equal(values.size, 256)
})
