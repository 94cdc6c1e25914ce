import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countIds } from './count-ids.ts'

test('an id is counted each time it comes, and of very many the first are forgotten', () => {
  const count = countIds()
  assert.deepEqual([count('a'), count('b'), count('a'), count('a')], [1, 1, 2, 3])
  for (let index = 0; index < 9_999; index++) assert.equal(count(`id ${index}`), 1)
  // "a" came first, and its place is taken; "b" is just inside.
  assert.deepEqual([count('b'), count('a')], [2, 1])
})
