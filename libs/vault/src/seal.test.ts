import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { SealContext } from './seal.ts'
import { seal, unseal } from './seal.ts'

const key = randomBytes(32)
const context: SealContext = ['setting', 'weather', 'api_key', true]
const text = Buffer.from('"c4n4ry"')

test('what was sealed opens with the same key in the same context alone', () => {
  const sealed = seal(key, text, context)
  assert.deepEqual(unseal(key, sealed, context), { plaintext: text })
  const others: [Buffer, SealContext][] = [
    [randomBytes(32), context],
    [key, ['data key', 'weather', 'api_key', true]],
    [key, ['setting', 'other', 'api_key', true]],
    [key, ['setting', 'weather', 'api_kez', true]],
    [key, ['setting', 'weather', 'api_key', false]],
    [key, ['setting', 'weather', 'api_key', 'true']],
    [key, ['setting', 'weatherapi_key', true]],
    [key, ['setting', 'weather', 'api_key']],
  ]
  for (const [otherKey, other] of others)
    assert.deepEqual(unseal(otherKey, sealed, other), { fault: 'not authentic' })
})

test('no bit of a sealed text can be changed, and no byte taken away or added', () => {
  const sealed = seal(key, text, context)
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    const fault = bit < 8 ? 'unknown version' : 'not authentic'
    assert.deepEqual(unseal(key, changed, context), { fault }, `bit ${bit}`)
  }
  for (let length = 0; length < sealed.length; length++)
    assert.deepEqual(unseal(key, sealed.subarray(0, length), context), { fault: 'not authentic' })
  assert.deepEqual(unseal(key, Buffer.concat([sealed, Buffer.of(0)]), context), { fault: 'not authentic' })
})

test('the same text is never sealed twice alike, and shows nothing of itself', () => {
  const made = Array.from({ length: 200 }, () => seal(key, text, context))
  assert.equal(new Set(made.map((one) => one.subarray(1, 13).toString('hex'))).size, 200)
  assert.equal(new Set(made.map((one) => one.subarray(29).toString('hex'))).size, 200)
  for (const one of made) {
    assert.equal(one[0], 1)
    assert.equal(one.length, 29 + text.length)
    assert.ok(!one.includes('c4n4ry'))
  }
})

test('an empty text is protected like every other', () => {
  const sealed = seal(key, Buffer.alloc(0), context)
  assert.deepEqual(unseal(key, sealed, context), { plaintext: Buffer.alloc(0) })
  assert.deepEqual(unseal(key, sealed, ['setting', 'other', 'api_key', true]), { fault: 'not authentic' })
})
