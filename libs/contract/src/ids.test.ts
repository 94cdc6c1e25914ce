import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId, newPrefixedId } from './ids.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

function timeOf(id: string): number {
  return Array.from(id.slice(0, 10)).reduce((sum, letter) => sum * 32 + alphabet.indexOf(letter), 0)
}

test('an id is 26 letters and digits, none of which is mistaken for another', () => {
  for (let i = 0; i < 1_000; i++) assert.match(newId(), /^[0-9a-hjkmnp-tv-z]{26}$/)
})

test('the first ten characters are the time, to the millisecond', () => {
  for (const nowMs of [0, 1, 31, 32, 1_763_711_999_999, Date.UTC(2100, 0), 2 ** 50 - 1])
    assert.equal(timeOf(newId(nowMs)), nowMs)
  const before = Date.now()
  const time = timeOf(newId())
  assert.ok(before <= time && time <= Date.now())
})

test('ids sort by time, as bytes', () => {
  const times = [
    0, 1, 9, 10, 31, 32, 33, 1_023, 1_024, 1_763_711_999_999, 1_763_712_000_000, 4_102_444_800_000,
  ]
  const ids = times.map((nowMs) => newId(nowMs))
  assert.deepEqual(ids.toSorted(), ids)
  assert.deepEqual(
    ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    ids,
  )
})

test('ids of one millisecond differ, in every random place', () => {
  const ids = Array.from({ length: 20_000 }, () => newId(1_763_712_000_000))
  assert.equal(new Set(ids).size, ids.length)
  for (let place = 10; place < 26; place++) {
    const letters = new Set(ids.map((id) => id.charAt(place)))
    assert.equal(letters.size, 32, `place ${place} takes ${letters.size} of 32 letters`)
  }
})

test('a prefix says what the id is of', () => {
  const id = newPrefixedId('inv', 32)
  assert.match(id, /^inv_000000001[0-9a-z]{17}$/)
  assert.match(newPrefixedId('key'), /^key_[0-9a-z]{26}$/)
})
