import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { signWebhook } from './sign-webhook.ts'
import { verifyWebhook } from './verify-webhook.ts'

const keyBytes = Buffer.alloc(32, 7)
const key = createSecretKey(keyBytes)
const otherKey = createSecretKey(Buffer.alloc(32, 8))
const sentSeconds = 1_700_000_000
const now = new Date(sentSeconds * 1_000)
const body = Buffer.from('{"a":1}')
const headers = signWebhook({ id: 'msg_1', timestampSeconds: sentSeconds, body }, [key])

type Changes = { headers?: Record<string, string>; body?: Buffer; now?: Date }

const verify = (changes: Changes = {}, keys = [key]) =>
  verifyWebhook(
    { headers: { ...headers, ...changes.headers }, body: changes.body ?? body },
    { keys, now: changes.now ?? now },
  )

const reasonOf = (changes: Changes, keys = [key]) => {
  const verified = verify(changes, keys)
  return verified.ok ? 'ok' : verified.reason
}

/** The text once for each of its characters, in which that one is another. */
const mutations = (text: string) =>
  Array.from(text, (character, at) => {
    const other = /\d/.test(character) ? String((Number(character) + 1) % 10) : character === 'A' ? 'B' : 'A'
    return text.slice(0, at) + other + text.slice(at + 1)
  })

test('a message is verified, with its id and time', () => {
  assert.deepEqual(verify(), { ok: true, id: 'msg_1', sentAt: now })
  const published = {
    'Webhook-Id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'WEBHOOK-TIMESTAMP': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const at = new Date(1_614_265_330_000)
  const keys = [createSecretKey(Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64'))]
  for (const given of [published, new Headers(published)]) {
    assert.deepEqual(
      verifyWebhook({ headers: given, body: Buffer.from('{"test": 2432232314}') }, { keys, now: at }),
      { ok: true, id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', sentAt: at },
    )
  }
})

test('what the reference libraries sign is verified, with the old secret and with the new one', () => {
  for (const Webhook of [StandardWebhook, SvixWebhook]) {
    for (const text of ['', '{}', 'Grüße, 世界 \u{1f511}', 'x'.repeat(500_000)]) {
      const theirs = new Webhook(keyBytes, { format: 'raw' }).sign('msg_1', now, text)
      const signed = { headers: { 'webhook-signature': theirs }, body: Buffer.from(text) }
      assert.equal(reasonOf(signed), 'ok')
      assert.equal(reasonOf(signed, [otherKey, key]), 'ok')
      assert.equal(reasonOf(signed, [key, otherKey]), 'ok')
      assert.equal(reasonOf(signed, [otherKey]), 'no_match')
    }
  }
})

test('every character of the id, the time and the signature is held, and every bit of the body', () => {
  for (const id of mutations(headers['webhook-id'])) {
    assert.equal(reasonOf({ headers: { 'webhook-id': id } }), 'no_match')
  }
  for (const timestamp of mutations(headers['webhook-timestamp'])) {
    // At the changed time, so that it is the signature that refuses.
    const at = new Date(Number(timestamp) * 1_000)
    assert.equal(reasonOf({ headers: { 'webhook-timestamp': timestamp }, now: at }), 'no_match')
  }
  for (const signature of mutations(headers['webhook-signature'])) {
    assert.equal(reasonOf({ headers: { 'webhook-signature': signature } }), 'no_match')
  }
  for (let bit = 0; bit < body.length * 8; bit += 1) {
    const changed = Buffer.from(body)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    assert.equal(reasonOf({ body: changed }), 'no_match')
  }
  assert.equal(reasonOf({ body: Buffer.concat([body, Buffer.from(' ')]) }), 'no_match')
  assert.equal(reasonOf({ body: body.subarray(1) }), 'no_match')
})

test('base64 that spells the same bytes otherwise is another signature', () => {
  const signature = headers['webhook-signature']
  // The last digit before the padding has two bits that stand for nothing.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const last = alphabet.indexOf(signature.at(-2) ?? '')
  const respelled = [1, 2, 3].map((bits) => `${signature.slice(0, -2)}${alphabet[last + bits]}=`)
  for (const spelled of [...respelled, signature.slice(0, -1), `${signature}=`, `${signature}\t`]) {
    assert.equal(reasonOf({ headers: { 'webhook-signature': spelled } }), 'no_match', spelled)
  }
})

test('the window is 300 s to both sides, its last second within', () => {
  const at = (seconds: number) => ({ now: new Date((sentSeconds + seconds) * 1_000) })
  assert.equal(reasonOf(at(300)), 'ok')
  assert.equal(reasonOf({ now: new Date((sentSeconds + 300) * 1_000 + 999) }), 'ok')
  assert.equal(reasonOf(at(301)), 'too_old')
  assert.equal(reasonOf(at(-300)), 'ok')
  assert.equal(reasonOf(at(-301)), 'too_new')
  assert.equal(reasonOf({ now: new Date((sentSeconds - 300) * 1_000 - 1) }), 'too_new')
  assert.equal(reasonOf({ now: new Date(Number.NaN) }), 'too_old')

  const narrow = { keys: [key], toleranceSeconds: 10 }
  assert.equal(verifyWebhook({ headers, body }, { ...narrow, ...at(10) }).ok, true)
  assert.equal(verifyWebhook({ headers, body }, { ...narrow, ...at(11) }).ok, false)
})

test('a time that is not written as a whole number is none', () => {
  const times = ['hello', '1700000000.0', '+1700000000', '01700000000', '1.7e9', '0x6553f100', ' 1700000000']
  for (const time of [...times, '١٧٠٠٠٠٠٠٠٠', '1700000000, 1700000000', '-1700000000', '1'.repeat(16)]) {
    assert.equal(reasonOf({ headers: { 'webhook-timestamp': time } }), 'header_malformed', time)
  }
  assert.equal(reasonOf({ headers: { 'webhook-timestamp': '0' } }), 'too_old')
  // Milliseconds, which some take for seconds.
  assert.equal(reasonOf({ headers: { 'webhook-timestamp': '1700000000000' } }), 'too_new')
})

test('an id with a full stop is refused: what is signed could be read as another message', () => {
  const id = 'msg_1.1700000000'
  const signed = new StandardWebhook(keyBytes, { format: 'raw' }).sign(id, now, body)
  const rest = Buffer.from(`${sentSeconds}.${body.toString()}`)
  assert.equal(reasonOf({ headers: { 'webhook-id': id, 'webhook-signature': signed } }), 'header_malformed')
  // The same signature, read one full stop earlier: a sender must not sign such ids, and ours does not.
  assert.equal(reasonOf({ headers: { 'webhook-signature': signed }, body: rest }), 'ok')
  assert.throws(() => signWebhook({ id, timestampSeconds: sentSeconds, body }, [key]), /full stop/)
  for (const other of ['ü', 'a b', '\u{1f511}', 'a\u0000', 'x'.repeat(256)]) {
    assert.equal(reasonOf({ headers: { 'webhook-id': other } }), 'header_malformed')
  }
})

test('one signature of many is enough, those of other versions are passed over', () => {
  const signature = headers['webhook-signature']
  const foreign = signWebhook({ id: 'msg_1', timestampSeconds: sentSeconds, body }, [otherKey])
  const reason = (...list: string[]) => reasonOf({ headers: { 'webhook-signature': list.join(' ') } })
  assert.equal(reason('v1a,AAAA', 'v2,AAAA', 'nonsense', '', ',', 'v1,', signature), 'ok')
  assert.equal(reason(foreign['webhook-signature'], signature), 'ok')
  assert.equal(reason(signature, foreign['webhook-signature']), 'ok')
  for (const version of ['v1a', 'v2', 'V1', 'v', '', 'v1 ', 'v1,v1']) {
    assert.equal(reason(`${version},${signature.slice(3)}`), 'no_match', version)
  }
  assert.equal(reason(signature.slice(3)), 'no_match')
  assert.equal(reason(`${signature},${signature}`), 'no_match')
  assert.equal(reason(...Array.from({ length: 31 }, () => 'v1,AAAA'), signature), 'ok')
  assert.equal(reason(...Array.from({ length: 32 }, () => 'v1,AAAA'), signature), 'too_many_signatures')
})

test('what is missing, empty, huge or there twice is refused', () => {
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const) {
    const { [name]: value, ...others } = headers
    const verdict = (given: Record<string, string>) => {
      const verified = verifyWebhook({ headers: { ...others, ...given }, body }, { keys: [key], now })
      return verified.ok ? 'ok' : verified.reason
    }
    assert.equal(verdict({}), 'header_missing')
    assert.equal(verdict({ [name]: '' }), 'header_missing')
    assert.equal(verdict({ [name]: 'x'.repeat(1_000_000) }), 'header_too_long')
    // Signatures are a list, so that two headers of them are one.
    const twice = name === 'webhook-signature' ? 'ok' : 'header_malformed'
    assert.equal(verdict({ [name]: value, [name.toUpperCase()]: value }), twice)
    assert.equal(verdict({ [name]: `${value}, ${value}` }), twice)
    assert.equal(verdict({ [name.toUpperCase()]: value }), 'ok')
  }
  assert.equal(verifyWebhook({ headers: { get: 'a header' }, body }, { keys: [key], now }).ok, false)
  assert.equal(reasonOf({}, []), 'no_secret')
})

const message = fc.record({
  id: fc.stringMatching(/^[\x21-\x2d\x2f-\x7e]{1,40}$/),
  timestampSeconds: fc.integer({ min: 0, max: 4_000_000_000 }),
  body: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
})
const keyPair = fc
  .uniqueArray(
    fc.uint8Array({ minLength: 24, maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('hex')),
    { minLength: 2, maxLength: 4 },
  )
  // An HMAC fills its key with zeros.
  .filter((keys) => new Set(keys.map((hex) => hex.replace(/(?:00)+$/, ''))).size === keys.length)
  .map((keys) => keys.map((hex) => createSecretKey(Buffer.from(hex, 'hex'))))

test('whatever is signed is verified by each of its keys, and by no other', () => {
  fc.assert(
    fc.property(message, keyPair, (sent, [stranger, ...keys]) => {
      assert.ok(stranger !== undefined)
      const received = { headers: { ...signWebhook(sent, keys) }, body: sent.body }
      const at = new Date(sent.timestampSeconds * 1_000)
      for (const one of keys) {
        assert.deepEqual(verifyWebhook(received, { keys: [one], now: at }), {
          ok: true,
          id: sent.id,
          sentAt: at,
        })
      }
      assert.equal(verifyWebhook(received, { keys: [stranger], now: at }).ok, false)
    }),
    { numRuns: 200 },
  )
})

test('whatever is signed, any one change of it is refused', () => {
  const field = fc.constantFrom('webhook-id', 'webhook-timestamp', 'webhook-signature', 'body')
  fc.assert(
    fc.property(message, field, fc.nat(), fc.integer({ min: 1, max: 255 }), (sent, name, place, mask) => {
      const given: Record<string, string> = { ...signWebhook(sent, [key]) }
      let text: Buffer = sent.body
      const flip = (bytes: Buffer) => {
        const flipped = Buffer.from(bytes)
        if (flipped.length === 0) return Buffer.from([mask])
        flipped.writeUInt8(flipped.readUInt8(place % flipped.length) ^ mask, place % flipped.length)
        return flipped
      }
      if (name === 'body') text = flip(text)
      else given[name] = flip(Buffer.from(given[name] ?? '', 'latin1')).toString('latin1')
      // A window without end, so that it is never the time that refuses.
      const at = new Date(sent.timestampSeconds * 1_000)
      const check = { keys: [key], now: at, toleranceSeconds: 1e15 }
      assert.equal(verifyWebhook({ headers: given, body: text }, check).ok, false)
    }),
    { numRuns: 500 },
  )
})

test('no garbage throws, and none is verified', () => {
  const name = fc.constantFrom('webhook-id', 'webhook-timestamp', 'webhook-signature', 'get', '__proto__')
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.constantFrom(...Object.values(headers)),
  )
  fc.assert(
    fc.property(fc.dictionary(name, value), fc.uint8Array(), (given, bytes) => {
      const verified = verifyWebhook({ headers: given, body: Buffer.from(bytes) }, { keys: [key], now })
      assert.equal(verified.ok, false)
    }),
    { numRuns: 500 },
  )
})
