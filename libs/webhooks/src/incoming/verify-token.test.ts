import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyIncoming } from './verify-incoming.ts'

const secret = 'correct-horse-battery-staple'
const other = 'another-secret-of-some-length'
const now = new Date(1_700_000_000_000)

const verify = (headers: Record<string, string> | Headers, secrets: readonly string[] = [secret]) => {
  const verified = verifyIncoming({ headers, body: Buffer.from('{}') }, { auth: 'token' }, secrets, now)
  return verified.ok ? verified : verified.reason
}

test('the secret is taken as a bearer or in its own header', () => {
  for (const headers of [
    { authorization: `Bearer ${secret}` },
    { Authorization: `bearer  ${secret}` },
    { 'x-webhook-token': secret },
    { 'X-Webhook-Token': secret, authorization: 'Basic cHJveHk6cHJveHk=' },
  ]) {
    assert.deepEqual(verify(headers), { ok: true })
    assert.deepEqual(verify(new Headers(headers)), { ok: true })
    assert.deepEqual(verify(headers, [other, secret]), { ok: true })
    assert.equal(verify(headers, [other]), 'no_match')
  }
})

test('every character of the secret is held, and its length', () => {
  for (const [at, character] of Array.from(secret).entries()) {
    const changed = secret.slice(0, at) + (character === 'a' ? 'b' : 'a') + secret.slice(at + 1)
    assert.equal(verify({ 'x-webhook-token': changed }), 'no_match')
    assert.equal(verify({ 'x-webhook-token': secret.slice(0, at) }), at === 0 ? 'header_missing' : 'no_match')
  }
  for (const token of [
    `${secret}x`,
    ` ${secret}`,
    `${secret} `,
    secret.toUpperCase(),
    `${secret}, ${secret}`,
  ]) {
    assert.equal(verify({ 'x-webhook-token': token }), 'no_match', token)
  }
  assert.equal(verify({ 'x-webhook-token': secret, 'X-WEBHOOK-TOKEN': other }), 'no_match')
})

test('what is no token is refused', () => {
  assert.equal(verify({}), 'header_missing')
  for (const authorization of [secret, `Basic ${secret}`, 'Bearer', 'Bearer ', `Bearer${secret}`]) {
    assert.equal(verify({ authorization }), 'header_malformed', authorization)
  }
  assert.equal(verify({ authorization: `Bearer ${secret} ${secret}` }), 'header_malformed')
  assert.equal(verify({ authorization: `Bearer ${'x'.repeat(1_000_000)}` }), 'header_too_long')
  // The header of its own decides where it is there.
  assert.equal(verify({ authorization: `Bearer ${secret}`, 'x-webhook-token': 'wrong' }), 'no_match')
  assert.equal(verify({ authorization: 'Bearer ключ-к-этому-дому' }), 'no_match')
})

test('an event may be named, by an id that can be kept', () => {
  const named = (id: string) => verify({ 'x-webhook-token': secret, 'Webhook-Id': id })
  assert.deepEqual(named('e-1'), { ok: true, eventId: 'e-1' })
  assert.equal(named(''), 'header_missing')
  for (const id of ['a b', 'ü', 'x'.repeat(256)]) assert.equal(named(id), 'header_malformed', id)
  assert.equal(verify({ 'x-webhook-token': other, 'webhook-id': 'e-1' }), 'no_match')
})

test('a secret that no header could carry is told as misconfigured', () => {
  for (const unsendable of ['ключ-к-этому-инструменту', 'a secret with blanks', 'sixteen\ncharacters']) {
    assert.equal(verify({ 'x-webhook-token': unsendable }, [unsendable]), 'misconfigured')
    assert.equal(verify({ 'x-webhook-token': secret }, [secret, unsendable]), 'misconfigured')
  }
})
