import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { signWebhook } from './sign-webhook.ts'
import { newWebhookSecret, parseWebhookSecret } from './webhook-secret.ts'

const keyOf = (text: string) => {
  const parsed = parseWebhookSecret(text)
  assert.ok('key' in parsed)
  return parsed.key
}

const references = [StandardWebhook, SvixWebhook]
const secondsNow = () => Math.floor(Date.now() / 1_000)

// The reference libraries call a body that is no JSON a failure of the signature.
const bodies = ['{}', '{"text":"Grüße, 世界 \u{1f511}"}', JSON.stringify({ text: 'x'.repeat(20_000) })]

test('the test vector of the reference libraries', () => {
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1_614_265_330,
    body: Buffer.from('{"test": 2432232314}'),
  }
  assert.deepEqual(signWebhook(message, [keyOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')]), {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('the reference libraries verify what we sign, and refuse it changed', () => {
  for (const Webhook of references) {
    for (const text of bodies) {
      const secret = newWebhookSecret()
      const body = Buffer.from(text)
      const headers = signWebhook({ id: 'msg_1', timestampSeconds: secondsNow(), body }, [keyOf(secret)])
      new Webhook(secret).verify(text, { ...headers })
      new Webhook(secret).verify(body, { ...headers })
      assert.throws(() => new Webhook(newWebhookSecret()).verify(body, { ...headers }), /No matching/)
      assert.throws(() => new Webhook(secret).verify(`${text} `, { ...headers }), /No matching/)
      assert.throws(
        () => new Webhook(secret).verify(body, { ...headers, 'webhook-id': 'msg_2' }),
        /No matching/,
      )
    }
  }
})

test('in a rotation the reference libraries verify with the old secret and with the new one', () => {
  for (const Webhook of references) {
    const secrets = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()]
    const message = { id: 'msg_1', timestampSeconds: secondsNow(), body: Buffer.from('{}') }
    const headers = signWebhook(message, secrets.map(keyOf))
    for (const secret of secrets) new Webhook(secret).verify(message.body, { ...headers })
    assert.throws(() => new Webhook(newWebhookSecret()).verify(message.body, { ...headers }), /No matching/)
  }
})

test('signatures stand in the order of their keys, one blank between them', () => {
  const keys = [newWebhookSecret(), newWebhookSecret()].map(keyOf)
  const message = { id: 'msg_1', timestampSeconds: 1_700_000_000, body: Buffer.from('{}') }
  const alone = keys.map((key) => signWebhook(message, [key])['webhook-signature'])
  assert.equal(signWebhook(message, keys)['webhook-signature'], `${alone[0]} ${alone[1]}`)
  assert.equal(signWebhook(message, keys.toReversed())['webhook-signature'], `${alone[1]} ${alone[0]}`)
})

test('whatever is signed, the reference library signs it alike', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[\x21-\x2d\x2f-\x7e]{1,255}$/),
      fc.integer({ min: 0, max: 4_000_000_000 }),
      fc.string({ unit: 'grapheme' }),
      fc.uint8Array({ minLength: 24, maxLength: 64 }),
      (id, timestampSeconds, text, bytes) => {
        const theirs = new StandardWebhook(bytes, { format: 'raw' })
        const ours = signWebhook({ id, timestampSeconds, body: Buffer.from(text) }, [createSecretKey(bytes)])
        assert.equal(
          ours['webhook-signature'],
          theirs.sign(id, new Date(timestampSeconds * 1_000), Buffer.from(text)),
        )
      },
    ),
    { numRuns: 200 },
  )
})

test('what no receiver could verify is not signed', () => {
  const message = { id: 'msg_1', timestampSeconds: 1_700_000_000, body: Buffer.from('{}') }
  const keys = [keyOf(newWebhookSecret())]
  assert.throws(() => signWebhook(message, []), /at least one key/)
  for (const id of ['', 'a.b', 'a b', 'a\nb', 'ü', 'x'.repeat(256)]) {
    assert.throws(() => signWebhook({ ...message, id }, keys), /the id of a webhook/)
  }
  for (const timestampSeconds of [1.5, -1, Number.NaN, Infinity, 1e300]) {
    assert.throws(() => signWebhook({ ...message, timestampSeconds }, keys), /whole seconds/)
  }
})
