import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { IncomingAuth } from './verify-incoming.ts'
import { verifyIncoming } from './verify-incoming.ts'

const sentSeconds = 1_700_000_000
const now = new Date(sentSeconds * 1_000)
const body = Buffer.from('{"id":"evt_1"}')
// Good for each of the ways.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const triggers: readonly IncomingAuth[] = [
  { auth: 'token' },
  { auth: 'standard' },
  { auth: 'github' },
  { auth: 'stripe' },
  { auth: 'hmac', hmac: { header: 'x-signature' } },
]

/** Headers that prove a message in each of the ways at once. */
const headersFor = (key: string | Buffer): Record<string, string> => {
  const hex = createHmac('sha256', key).update(body).digest('hex')
  const stripe = createHmac('sha256', key).update(`${sentSeconds}.`).update(body).digest('hex')
  const bytes = Buffer.from(String(key).slice('whsec_'.length), 'base64')
  const standard = createHmac('sha256', bytes).update(`msg_1.${sentSeconds}.`).update(body).digest('base64')
  return {
    'x-webhook-token': String(key),
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(sentSeconds),
    'webhook-signature': `v1,${standard}`,
    'x-hub-signature-256': `sha256=${hex}`,
    'x-github-delivery': 'd-1',
    'stripe-signature': `t=${sentSeconds},v1=${stripe}`,
    'x-signature': hex,
  }
}

const verdict = (trigger: IncomingAuth, secrets: readonly string[], headers = headersFor(secret)) => {
  const verified = verifyIncoming({ headers, body }, trigger, secrets, now)
  return verified.ok ? 'ok' : verified.reason
}

test('each way is chosen by its name', () => {
  const verified = triggers.map((trigger) =>
    verifyIncoming({ headers: headersFor(secret), body }, trigger, [secret], now),
  )
  assert.deepEqual(verified, [
    { ok: true, eventId: 'msg_1' },
    { ok: true, eventId: 'msg_1', sentAt: now },
    { ok: true, eventId: 'd-1' },
    { ok: true, eventId: 'evt_1', sentAt: now },
    { ok: true },
  ])
})

test('each way takes its own proof alone', () => {
  const names = [
    'x-webhook-token',
    'webhook-signature',
    'x-hub-signature-256',
    'stripe-signature',
    'x-signature',
  ]
  for (const [index, trigger] of triggers.entries()) {
    const { [names[index] ?? '']: _, ...others } = headersFor(secret)
    assert.equal(verdict(trigger, [secret], others), 'header_missing', trigger.auth)
  }
})

test('without a secret nothing is believed, whatever it is signed with', () => {
  for (const trigger of triggers) {
    assert.equal(verdict(trigger, []), 'no_secret')
    assert.equal(verdict(trigger, [], headersFor('')), 'no_secret')
    assert.equal(verdict(trigger, [], {}), 'no_secret')
  }
})

test('an empty secret, a short one or one with a blank at its end is misconfigured, beside a good one too', () => {
  const bad = [
    '',
    ' ',
    'fifteen-letters',
    ' '.repeat(16),
    `${secret}\n`,
    `\ufeff${secret}`,
    'x'.repeat(4_097),
  ]
  for (const trigger of triggers) {
    for (const one of bad) {
      assert.equal(verdict(trigger, [one], headersFor(one)), 'misconfigured')
      assert.equal(verdict(trigger, [secret, one]), 'misconfigured')
      assert.equal(verdict(trigger, [one, secret]), 'misconfigured')
    }
  }
  assert.equal(verdict({ auth: 'github' }, ['sixteen-letters-'], headersFor('sixteen-letters-')), 'ok')
})

const ourHeaders = Object.keys(headersFor(secret))
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(...Object.values(headersFor('whsec_another_secret_of_another'))),
  fc.constantFrom(
    'Bearer ',
    'v1,',
    'sha256=',
    't=1700000000,v1=',
    't=1700000000',
    '1700000000',
    secret.slice(1),
  ),
)
const name = fc.constantFrom(...ourHeaders, 'authorization', 'svix-id', 'svix-signature', 'get', '__proto__')

test('no garbage throws, none is verified, and no answer shows a secret or a header', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...triggers),
      fc.dictionary(name, text),
      fc.uint8Array(),
      (trigger, headers, bytes) => {
        const received = { headers, body: Buffer.from(bytes) }
        const verified = verifyIncoming(received, trigger, [secret], now)
        assert.ok(!verified.ok)
        const shown = JSON.stringify(verified)
        for (const kept of [secret, ...Object.values(headers).filter((value) => value.length >= 12)]) {
          assert.ok(!shown.includes(kept), shown)
        }
      },
    ),
    { numRuns: 1_000 },
  )
})
