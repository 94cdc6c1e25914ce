import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { verifyIncoming } from './verify-incoming.ts'

const now = new Date(1_700_000_000_000)
const delivery = '72d3162e-cc78-11e3-81ab-4c9367dc0958'

// The example of GitHub's documentation.
const secret = "It's a Secret to Everybody"
const body = Buffer.from('Hello, World!')
const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
const headers = { 'X-Hub-Signature-256': signature, 'X-GitHub-Delivery': delivery }

const verify = (given: Record<string, string>, text = body, secrets: readonly string[] = [secret]) => {
  const verified = verifyIncoming({ headers: given, body: text }, { auth: 'github' }, secrets, now)
  return verified.ok ? verified : verified.reason
}

const signedBy = (text: Buffer, key: string) => ({
  ...headers,
  'X-Hub-Signature-256': `sha256=${createHmac('sha256', key).update(text).digest('hex')}`,
})

test('the example of the documentation is verified, with the id of its delivery', () => {
  assert.deepEqual(verify(headers), { ok: true, eventId: delivery })
  assert.deepEqual(verify(headers, body, ['another-secret-of-some-length', secret]), {
    ok: true,
    eventId: delivery,
  })
  assert.equal(verify(headers, body, ['another-secret-of-some-length']), 'no_match')
})

test('every character of the signature is held, and every byte of the body', () => {
  for (const [at, character] of Array.from(signature).entries()) {
    const changed = signature.slice(0, at) + (character === '0' ? '1' : '0') + signature.slice(at + 1)
    const expected = at < 'sha256='.length ? 'header_malformed' : 'no_match'
    assert.equal(verify({ ...headers, 'X-Hub-Signature-256': changed }), expected)
  }
  for (let at = 0; at < body.length; at += 1) {
    const changed = Buffer.from(body)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    assert.equal(verify(headers, changed), 'no_match')
  }
})

test('bodies of any bytes and secrets of any script are verified', () => {
  for (const key of ['ключ-к-этому-инструменту', 'a secret with blanks', '\u{1f511}'.repeat(8)]) {
    for (const text of [Buffer.alloc(0), Buffer.from([0, 255, 128]), Buffer.from('Grüße \u{1f511}')]) {
      assert.deepEqual(verify(signedBy(text, key), text, [key]), { ok: true, eventId: delivery })
    }
  }
})

test('the old signature of SHA-1, another prefix and none are refused', () => {
  const sha1 = createHmac('sha1', secret).update(body).digest('hex')
  const digits = signature.slice('sha256='.length)
  assert.equal(verify({ 'X-Hub-Signature': `sha1=${sha1}`, 'X-GitHub-Delivery': delivery }), 'header_missing')
  for (const wrong of [
    `sha1=${sha1}`,
    `sha1=${digits}`,
    digits,
    `SHA256=${digits}`,
    `sha512=${digits}`,
    '=',
  ]) {
    assert.equal(verify({ ...headers, 'X-Hub-Signature-256': wrong }), 'header_malformed', wrong)
  }
  for (const wrong of ['sha256=', `sha256=${signature}`, `${signature} `, `${signature}, ${signature}`]) {
    assert.equal(verify({ ...headers, 'X-Hub-Signature-256': wrong }), 'no_match', wrong)
  }
  assert.equal(verify({ ...headers, 'X-Hub-Signature-256': `sha256=${'0'.repeat(1e6)}` }), 'header_too_long')
})

test('a delivery needs an id that can be kept', () => {
  assert.equal(verify({ 'X-Hub-Signature-256': signature }), 'header_missing')
  assert.equal(verify({ ...headers, 'X-GitHub-Delivery': '' }), 'header_missing')
  for (const id of ['a b', 'ü', 'a\u0000', 'x'.repeat(256), `${delivery}, ${delivery}`]) {
    assert.equal(verify({ ...headers, 'X-GitHub-Delivery': id }), 'header_malformed')
  }
})
