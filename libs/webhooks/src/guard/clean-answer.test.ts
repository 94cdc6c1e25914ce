import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanAnswer, cleanRetryAfter } from './clean-answer.ts'

const clean = (text: string) => cleanAnswer(Buffer.from(text))

test('lines and tabs stay, controls and what steers a reader go', () => {
  assert.equal(clean('a\tb\r\nc\nd'), 'a\tb\nc\nd')
  assert.equal(clean('a\u0000b\u001b[31mc\rd\u007f\u0085\u009b\u2028\u202e\u2066e'), 'ab[31mcde')
  assert.equal(clean('grüße 😀 日本'), 'grüße 😀 日本')
  assert.equal(clean(''), '')
})

test('broken bytes become replacement characters', () => {
  assert.equal(cleanAnswer(Buffer.from([0x61, 0xff, 0x62, 0xe2, 0x82])), 'a\ufffdb\ufffd')
  // Half of a surrogate pair, written as bytes.
  assert.equal(cleanAnswer(Buffer.from([0xed, 0xa0, 0x80])), '\ufffd\ufffd\ufffd')
})

test('never more than 4,096 bytes come out, and no character in halves', () => {
  assert.equal(clean('x'.repeat(9_000)), 'x'.repeat(4_096))
  assert.equal(clean('😀'.repeat(2_000)), '😀'.repeat(1_024))
  assert.equal(clean(`x${'😀'.repeat(2_000)}`), `x${'😀'.repeat(1_023)}`)
  assert.equal(clean(`xx${'😀'.repeat(2_000)}`), `xx${'😀'.repeat(1_023)}`)
  assert.equal(cleanAnswer(Buffer.alloc(4_096, 0xff)), '\ufffd'.repeat(1_365))
  assert.equal(cleanAnswer(Buffer.alloc(1_000_000, 0xff)), '\ufffd'.repeat(1_365))
})

test('a Retry-After is passed on, cut and in plain characters', () => {
  assert.equal(cleanRetryAfter(undefined), undefined)
  assert.equal(cleanRetryAfter('120'), '120')
  assert.equal(cleanRetryAfter('Wed, 21 Oct 2026 07:28:00 GMT'), 'Wed, 21 Oct 2026 07:28:00 GMT')
  assert.equal(cleanRetryAfter('1\t2ü'), '12')
  assert.equal(cleanRetryAfter('9'.repeat(5_000))?.length, 100)
})
