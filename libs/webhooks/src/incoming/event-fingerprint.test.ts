import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventFingerprint } from './event-fingerprint.ts'

const one = Buffer.from('{"a":1}')
const other = Buffer.from('{"a":2}')

const isSame = (
  auth: Parameters<typeof eventFingerprint>[0],
  [id, body]: [string | undefined, Buffer],
  [otherId, otherBody]: [string | undefined, Buffer],
) =>
  eventFingerprint(auth, { eventId: id, body }).equals(
    eventFingerprint(auth, { eventId: otherId, body: otherBody }),
  )

test('an id that is signed is the event, whatever is written of it', () => {
  for (const auth of ['standard', 'stripe'] as const) {
    assert.ok(isSame(auth, ['e-1', one], ['e-1', other]))
    assert.ok(!isSame(auth, ['e-1', one], ['e-2', one]))
    assert.ok(!isSame(auth, ['e-1', one], [undefined, one]))
    assert.ok(isSame(auth, [undefined, one], [undefined, one]))
    assert.ok(!isSame(auth, [undefined, one], [undefined, other]))
  }
})

test('where it is not, another id makes no other event, and the same id does not hide another body', () => {
  for (const auth of ['github', 'hmac'] as const) {
    assert.ok(isSame(auth, ['e-1', one], ['e-2', one]))
    assert.ok(isSame(auth, ['e-1', one], [undefined, one]))
    assert.ok(!isSame(auth, ['e-1', one], ['e-1', other]))
  }
})

test('with a token an id parts events whose bodies are alike', () => {
  assert.ok(isSame('token', [undefined, one], [undefined, one]))
  assert.ok(!isSame('token', [undefined, one], [undefined, other]))
  assert.ok(isSame('token', ['e-1', one], ['e-1', one]))
  assert.ok(!isSame('token', ['e-1', one], ['e-2', one]))
  assert.ok(!isSame('token', ['e-1', one], ['e-1', other]))
  assert.ok(!isSame('token', ['e-1', one], [undefined, one]))
})

test('no id and body can be taken for another pair', () => {
  assert.ok(!isSame('token', ['a', Buffer.from('b')], ['ab', Buffer.alloc(0)]))
  assert.ok(!isSame('token', ['a"]', one], ['a', Buffer.concat([Buffer.from('"]'), one])]))
})
