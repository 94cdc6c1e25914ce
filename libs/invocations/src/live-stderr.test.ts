import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLiveStderr } from './live-stderr.ts'
import { chunkMaxBytes, decodeChunk, encodeChunk } from './stderr-chunk.ts'

const id = `inv_${'0'.repeat(26)}`

const open = () => createLiveStderr({ id, attempt: 2 }, { onSpeaking: () => {}, onEnd: async () => {} })

test('at most ten chunks of 4 kB go out in any second, and what is more leaves a mark', () => {
  const live = open()
  const text = 'ü'.repeat(200_000)
  live.write(text)
  const taken: { atMs: number; bytes: number; isGap: boolean }[] = []
  for (let atMs = 0; atMs < 5_000; atMs += 7) {
    const chunk = live.take(atMs)
    if (chunk !== undefined) taken.push({ atMs, bytes: Buffer.byteLength(chunk.text), isGap: chunk.isGap })
    // It goes on writing all the time.
    live.write('x'.repeat(50_000))
  }
  assert.ok(taken.length > 20)
  for (const { atMs, bytes } of taken) {
    assert.ok(bytes <= chunkMaxBytes)
    assert.ok(taken.filter((other) => other.atMs > atMs - 1_000 && other.atMs <= atMs).length <= 10)
  }
  assert.ok(taken.some(({ isGap }) => isGap))
  assert.equal(taken[0]?.isGap, false)
})

test('characters stay whole, nothing is lost below the limit, and the numbers have no hole', () => {
  const live = open()
  const text = 'aü€😀'.repeat(1_500)
  live.write(text)
  const chunks = live.takeLast(0, 10)
  assert.equal(chunks.map((chunk) => chunk.text).join(''), text)
  assert.deepEqual(
    chunks.map(({ seq }) => seq),
    chunks.map((_, index) => index),
  )
  assert.ok(chunks.every(({ isGap }) => !isGap))
})

test('a gap stands where something is missing: before the next words, or at the end', () => {
  const live = open()
  live.write('one')
  live.noteGap()
  live.write('never said')
  assert.deepEqual([live.take(0)?.text, live.hasMore()], ['one', false])
  live.write('two')
  const two = live.take(0)
  assert.deepEqual([two?.text, two?.isGap], ['two', true])
  live.write('z'.repeat(100_000))
  const last = live.takeLast(0, 3)
  assert.deepEqual([last.length, last.at(-1)?.text, last.at(-1)?.isGap], [4, '', true])
  assert.equal(live.hasMore(), false)
})

test('a chunk survives its way, and what is no chunk is none', () => {
  const chunk = { id, attempt: 3, seq: 12, isGap: true, text: 'a b\0\n😀' }
  assert.deepEqual(decodeChunk(encodeChunk(chunk)), chunk)
  assert.deepEqual(decodeChunk(encodeChunk({ ...chunk, text: '' }))?.text, '')
  const largest = encodeChunk({ ...chunk, attempt: 50, seq: 999_999_999, text: 'x'.repeat(chunkMaxBytes) })
  assert.ok(Buffer.byteLength(largest) < 8_000)
  for (const payload of ['', 'x', `${id} 1 1 2 `, `${id} 1 1 1`, `${id} a 1 1 aa`, `inv_x 1 1 1 aa`])
    assert.equal(decodeChunk(payload), undefined, payload)
})
