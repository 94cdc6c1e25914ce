import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { verifyIncoming } from './verify-incoming.ts'

const sentSeconds = 1_700_000_000
const now = new Date(sentSeconds * 1_000)
const secret = 'whsec_test_secret_of_stripe'
const other = 'whsec_another_secret_of_stripe'
const body = Buffer.from('{\n  "id": "evt_1",\n  "object": "event"\n}')

const v1 = (text = body, key = secret, seconds: number | string = sentSeconds) =>
  createHmac('sha256', key).update(`${seconds}.`).update(text).digest('hex')

const verify = (header: string, text = body, secrets: readonly string[] = [secret], at = now) => {
  const headers = { 'Stripe-Signature': header }
  const verified = verifyIncoming({ headers, body: text }, { auth: 'stripe' }, secrets, at)
  return verified.ok ? verified : verified.reason
}

const header = `t=${sentSeconds},v1=${v1()}`
const believed = { ok: true, eventId: 'evt_1', sentAt: now }

test('a message is verified with the id in its body and the time in its header', () => {
  assert.deepEqual(verify(header), believed)
  assert.deepEqual(verify(`v1=${v1()},t=${sentSeconds}`), believed)
  // Worked out by openssl: printf '1700000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_test_secret_of_stripe
  const known = '8fc4dd0995fa90cb76a058e24411c4e5ae580fb773ecfafdb4337a04e58587c7'
  assert.deepEqual(verify(`t=${sentSeconds},v1=${known}`, Buffer.from('{"id":"evt_1"}')), believed)
})

test('one v1 of many is enough, of any secret; other schemes are passed over', () => {
  const both = `t=${sentSeconds},v1=${v1(body, other)},v1=${v1()},v0=${v1()}`
  for (const secrets of [[secret], [other], [secret, other], [other, secret]]) {
    assert.deepEqual(verify(both, body, secrets), believed)
  }
  assert.equal(verify(header, body, [other]), 'no_match')
  assert.equal(verify(`t=${sentSeconds},v0=${v1()}`), 'header_malformed')
  assert.equal(verify(`t=${sentSeconds},v0=${v1()},v1=00`), 'no_match')
  assert.equal(verify(`t=${sentSeconds},v1a=${v1()},v1=00`), 'no_match')
  const wrong = (count: number) => ',v1=00'.repeat(count)
  assert.deepEqual(verify(`t=${sentSeconds}${wrong(31)},v1=${v1()}`), believed)
  assert.equal(verify(`t=${sentSeconds}${wrong(32)},v1=${v1()}`), 'too_many_signatures')
})

test('every character of the signature is held, every digit of the time and every byte of the body', () => {
  for (const [at, character] of Array.from(v1()).entries()) {
    const changed = v1().slice(0, at) + (character === '0' ? '1' : '0') + v1().slice(at + 1)
    assert.equal(verify(`t=${sentSeconds},v1=${changed}`), 'no_match')
  }
  for (const [at, digit] of Array.from(String(sentSeconds)).entries()) {
    const text = String(sentSeconds)
    const changed = text.slice(0, at) + String((Number(digit) + 1) % 10) + text.slice(at + 1)
    const then = new Date(Number(changed) * 1_000)
    assert.equal(verify(`t=${changed},v1=${v1()}`, body, [secret], then), 'no_match')
  }
  for (let at = 0; at < body.length; at += 1) {
    const changed = Buffer.from(body)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    assert.equal(verify(header, changed), 'no_match')
  }
})

test('the window is 300 s to both sides, its last second within', () => {
  const at = (seconds: number) => verify(header, body, [secret], new Date((sentSeconds + seconds) * 1_000))
  assert.deepEqual(at(300), believed)
  assert.equal(at(301), 'too_old')
  assert.deepEqual(at(-300), believed)
  assert.equal(at(-301), 'too_new')
})

test('a header of another form is refused', () => {
  const refused = ['v1', '=', `t=,v1=${v1()}`, `t=x,v1=${v1()}`, `v1=${v1()}`, `t=${sentSeconds}`, 'ü', ',,,']
  for (const wrong of [
    ...refused,
    `t=${sentSeconds},${header}`,
    `t=1,${header}`,
    `t=0${sentSeconds},v1=00`,
  ]) {
    assert.equal(verify(wrong), 'header_malformed', wrong)
  }
  assert.equal(verify(''), 'header_missing')
  assert.equal(verify(`t=${sentSeconds},v1=${'0'.repeat(1e6)}`), 'header_too_long')
})

test('a body without an id that can be kept is verified without one', () => {
  const withoutId = ['', 'not json', 'null', '[]', '"evt_1"', '{}', '{"id":1}', '{"id":""}', '{"id":["a"]}']
  const texts = [...withoutId, '{"id":"a b"}', `{"id":"${'x'.repeat(256)}"}`, '{"__proto__":{"id":"evt_1"}}']
  for (const text of [...texts.map((each) => Buffer.from(each)), Buffer.from('['.repeat(500_000))]) {
    assert.deepEqual(verify(`t=${sentSeconds},v1=${v1(text)}`, text), { ok: true, sentAt: now })
  }
})
