import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { HmacOptions } from '@toolyard/contract/webhook-trigger'
import fc from 'fast-check'
import { verifyIncoming } from './verify-incoming.ts'

const sentSeconds = 1_700_000_000
const now = new Date(sentSeconds * 1_000)
const secret = 'correct horse battery staple'
const other = 'another secret of some length'
const body = Buffer.from('{"a":"Grüße"}')

type Given = { headers: Record<string, string>; body?: Buffer; secrets?: readonly string[]; now?: Date }

const verify = (hmac: unknown, given: Given) => {
  const { headers, secrets = [secret] } = given
  const received = { headers, body: given.body ?? body }
  const verified = verifyIncoming(received, { auth: 'hmac', hmac }, secrets, given.now ?? now)
  return verified.ok ? verified : verified.reason
}

const withTime = {
  header: 'X-Signature',
  signed: 'timestamp.body',
  timestamp_header: 'X-Timestamp',
} as const

const signedWithTime = (time: string) => ({
  'x-timestamp': time,
  'x-signature': createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex'),
})

const before = { body: '', 'timestamp.body': `${sentSeconds}.`, 'v0:timestamp:body': `v0:${sentSeconds}:` }

/** Every way to sign, with the headers of a message that is signed so. */
const everyWay = (['sha1', 'sha256', 'sha384', 'sha512'] as const).flatMap((algorithm) =>
  (['hex', 'base64'] as const).flatMap((encoding) =>
    ['', 'sha256=', 'HMAC '].flatMap((prefix) =>
      (['body', 'timestamp.body', 'v0:timestamp:body'] as const).map((signed) => {
        const options = { header: 'X-Signature', algorithm, encoding, prefix, signed }
        const mac = createHmac(algorithm, secret).update(before[signed]).update(body).digest(encoding)
        return signed === 'body'
          ? { options, headers: { 'x-signature': prefix + mac } }
          : {
              options: { ...options, timestamp_header: 'X-Timestamp' },
              headers: { 'x-signature': prefix + mac, 'x-timestamp': String(sentSeconds) },
            }
      }),
    ),
  ),
)

test('every way to sign is verified, and no message signed in one is taken for another', () => {
  assert.equal(everyWay.length, 72)
  for (const way of everyWay) {
    const expected = way.options.signed === 'body' ? { ok: true } : { ok: true, sentAt: now }
    for (const secrets of [[secret], [other, secret], [secret, other]]) {
      assert.deepEqual(verify(way.options, { headers: way.headers, secrets }), expected)
    }
    assert.equal(verify(way.options, { headers: way.headers, secrets: [other] }), 'no_match')
    const taken = everyWay.filter(({ options }) => typeof verify(options, way) === 'object')
    assert.deepEqual(taken, [way])
  }
})

test('the example of Slack', () => {
  const options = {
    header: 'X-Slack-Signature',
    prefix: 'v0=',
    signed: 'v0:timestamp:body',
    timestamp_header: 'X-Slack-Request-Timestamp',
  }
  const form =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
  const sentAt = new Date(1_531_420_618_000)
  const given = {
    headers: {
      'X-Slack-Request-Timestamp': '1531420618',
      'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    body: Buffer.from(form),
    secrets: ['8f742231b10e8888abcd99yyyzzz85a5'],
    now: sentAt,
  }
  assert.deepEqual(verify(options, given), { ok: true, sentAt })
  assert.equal(verify(options, { ...given, now }), 'too_old')
})

test('digits of hex may be upper-case, those of base64 and the prefix not', () => {
  const prefix = 'sha256='
  for (const encoding of ['hex', 'base64'] as const) {
    const mac = createHmac('sha256', secret).update(body).digest(encoding)
    const taken = (text: string) =>
      typeof verify({ header: 'x', prefix, encoding }, { headers: { x: text } }) === 'object'
    assert.equal(taken(`sha256=${mac.toUpperCase()}`), encoding === 'hex')
    assert.equal(taken(`SHA256=${mac}`), false)
    assert.equal(taken(mac), false)
    assert.equal(taken(`sha256=${mac}=`), false)
    assert.equal(taken(`sha256= ${mac}`), false)
  }
})

test('a signed time is held to its window and its unit', () => {
  const options = { ...withTime, tolerance_seconds: 10 }
  const headers = signedWithTime(String(sentSeconds))
  const at = (seconds: number) => verify(options, { headers, now: new Date((sentSeconds + seconds) * 1_000) })
  assert.deepEqual(at(10), { ok: true, sentAt: now })
  assert.equal(at(11), 'too_old')
  assert.deepEqual(at(-10), { ok: true, sentAt: now })
  assert.equal(at(-11), 'too_new')

  const inMilliseconds = { ...withTime, timestamp_unit: 'milliseconds' }
  const finer = signedWithTime(`${sentSeconds}123`)
  const sentAt = new Date(sentSeconds * 1_000 + 123)
  assert.deepEqual(verify(inMilliseconds, { headers: finer }), { ok: true, sentAt })
  assert.equal(verify(withTime, { headers: finer }), 'too_new')
  assert.equal(verify(inMilliseconds, { headers }), 'too_old')
  for (const time of ['', 'x', '2023-11-14T22:13:20Z', `${sentSeconds}.5`, `0${sentSeconds}`]) {
    const refused = time === '' ? 'header_missing' : 'header_malformed'
    assert.equal(verify(withTime, { headers: signedWithTime(time) }), refused)
  }
  const { 'x-timestamp': _, ...without } = headers
  assert.equal(verify(withTime, { headers: without }), 'header_missing')
})

test('the id of an event is read where it is named, and must be there and fit', () => {
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const options = { header: 'x-signature', event_id_header: 'X-Event-Id' }
  const withId = (id: string) => verify(options, { headers: { 'x-signature': signature, 'x-event-id': id } })
  assert.deepEqual(withId('e-1'), { ok: true, eventId: 'e-1' })
  assert.equal(verify(options, { headers: { 'x-signature': signature } }), 'header_missing')
  for (const id of ['a b', 'ü', '\u0000', 'x'.repeat(256)]) assert.equal(withId(id), 'header_malformed')
})

test('options that contradict each other, or are none, refuse every message', () => {
  const headers = signedWithTime(String(sentSeconds))
  const { timestamp_header: _, ...withoutHeader } = withTime
  const contradictions: unknown[] = [
    undefined,
    null,
    'x-signature',
    {},
    withoutHeader,
    { ...withTime, signed: 'body' },
    { ...withTime, algorithm: 'md5' },
    { ...withTime, algorithm: 'SHA256' },
    { ...withTime, encoding: 'latin1' },
    { ...withTime, header: 'x signature' },
    { ...withTime, header: '' },
    { ...withTime, tolerance_seconds: 0 },
    { ...withTime, tolerance_seconds: 3_601 },
    { ...withTime, prefix: 'ü' },
    { ...withTime, timestmp_header: 'x-timestamp' },
  ]
  assert.deepEqual(verify(withTime, { headers }), { ok: true, sentAt: now })
  for (const options of contradictions) {
    assert.equal(verify(options, { headers }), 'misconfigured', JSON.stringify(options))
  }
})

test('whatever is signed is verified, and any one change of it is refused', () => {
  const optionsOf = fc.record({
    header: fc.constantFrom('x-signature', 'Authorization'),
    algorithm: fc.constantFrom<HmacOptions['algorithm']>('sha1', 'sha256', 'sha384', 'sha512'),
    encoding: fc.constantFrom<HmacOptions['encoding']>('hex', 'base64'),
    prefix: fc.constantFrom('', 'sha256=', 'HMAC '),
    isTimed: fc.boolean(),
  })
  const bytes = fc.uint8Array({ maxLength: 100 }).map((each) => Buffer.from(each))
  const flipped = (given: Buffer, place: number, mask: number) => {
    if (given.length === 0) return Buffer.from([mask])
    const copy = Buffer.from(given)
    copy.writeUInt8(copy.readUInt8(place % copy.length) ^ mask, place % copy.length)
    return copy
  }
  fc.assert(
    fc.property(optionsOf, bytes, fc.nat(), fc.integer({ min: 1, max: 255 }), (some, text, place, mask) => {
      const { isTimed, ...rest } = some
      const timing = isTimed ? { signed: 'timestamp.body', timestamp_header: 'x-time' } : {}
      const options = { ...rest, ...timing }
      const mac = createHmac(rest.algorithm, secret)
        .update(isTimed ? `${sentSeconds}.` : '')
        .update(text)
      const headers = {
        [rest.header]: rest.prefix + mac.digest(rest.encoding),
        'x-time': String(sentSeconds),
      }
      assert.equal(typeof verify(options, { headers, body: text }), 'object')
      assert.equal(typeof verify(options, { headers, body: flipped(text, place, mask) }), 'string')
      const changed = flipped(Buffer.from(headers[rest.header] ?? '', 'latin1'), place, mask)
      // A digit of hex is the same in its other case.
      if (rest.encoding === 'hex' && mask === 0x20) return
      const refused = { ...headers, [rest.header]: changed.toString('latin1') }
      assert.equal(typeof verify(options, { headers: refused, body: text }), 'string')
    }),
    { numRuns: 500 },
  )
})
