import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashBody } from './hash-body.ts'

test('the order of members does not matter, that of lists does', () => {
  const a = hashBody({ a: 1, b: { c: [1, 2], d: null } })
  assert.ok(a.equals(hashBody({ b: { d: null, c: [1, 2] }, a: 1 })))
  for (const other of [
    { a: 1, b: { c: [2, 1], d: null } },
    { a: '1', b: { c: [1, 2], d: null } },
    { a: 1, b: { c: [1, 2] } },
    { a: 1, b: [{ c: [1, 2], d: null }] },
  ])
    assert.ok(!a.equals(hashBody(other)))
})

test('no name of a member is lost', () => {
  assert.ok(!hashBody(JSON.parse('{"__proto__": 1}')).equals(hashBody({})))
})
