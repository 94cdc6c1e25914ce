import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventFingerprint } from './event-fingerprint.ts'

const one = Buffer.from('{"a":1}')
const other = Buffer.from('{"a":2}')

type Told = [id: string | undefined, body: Buffer, sentAt?: Date]

const isSame = (auth: Parameters<typeof eventFingerprint>[0], ...messages: [Told, Told]) => {
  const [first, second] = messages.map(([eventId, body, sentAt]) =>
    eventFingerprint(auth, { eventId, body, sentAt }),
  )
  assert.ok(first && second)
  return first.equals(second)
}

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

test('a time that is signed with a body parts events whose bodies are alike, for hmac alone', () => {
  const [at, later] = [new Date(1_700_000_000_000), new Date(1_700_000_001_000)]
  assert.ok(isSame('hmac', ['e-1', one, at], ['e-2', one, at]))
  assert.ok(!isSame('hmac', ['e-1', one, at], ['e-1', one, later]))
  assert.ok(!isSame('hmac', [undefined, one, at], [undefined, one]))
  assert.ok(!isSame('hmac', [undefined, one, at], [undefined, other, at]))
  // Each time that they send an event they sign it anew.
  assert.ok(isSame('standard', ['e-1', one, at], ['e-1', one, later]))
  assert.ok(isSame('stripe', [undefined, one, at], [undefined, one, later]))
})

test('with a token an id parts events, and without one nothing says that two messages tell of the same', () => {
  assert.equal(eventFingerprint('token', { body: one }), undefined)
  assert.ok(isSame('token', ['e-1', one], ['e-1', one]))
  assert.ok(!isSame('token', ['e-1', one], ['e-2', one]))
  assert.ok(!isSame('token', ['e-1', one], ['e-1', other]))
})

test('no id and body can be taken for another pair', () => {
  assert.ok(!isSame('token', ['a', Buffer.from('b')], ['ab', Buffer.alloc(0)]))
  assert.ok(!isSame('token', ['a"]', one], ['a', Buffer.concat([Buffer.from('"]'), one])]))
})
