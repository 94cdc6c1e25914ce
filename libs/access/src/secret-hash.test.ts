import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOptions } from '@node-rs/argon2'
import { absentHash, hashSecret, secretCheck, secretCheckMatches, verifySecret } from './secret-hash.ts'
import { newSecret } from './token.ts'

test('secrets are hashed with argon2id at the agreed cost, each with its own salt', async () => {
  const secret = newSecret()
  const [one, other] = await Promise.all([hashSecret(secret), hashSecret(secret)])
  assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.notEqual(one, other)
  assert.equal(await verifySecret(one, secret), true)
  assert.equal(await verifySecret(one, newSecret()), false)
})

test('the hash of the key that never was costs what a real one costs, and no secret opens it', async () => {
  const real = await hashSecret(newSecret())
  assert.deepEqual(parseOptions(absentHash), parseOptions(real))
  assert.equal(await verifySecret(absentHash, newSecret()), false)
  assert.equal(await verifySecret(absentHash, ''), false)
})

test('the check of a secret is 32 bits and fits that secret alone', () => {
  const secret = newSecret()
  const check = secretCheck(secret)
  assert.equal(check.length, 4)
  assert.equal(secretCheckMatches(check, secret), true)
  assert.equal(secretCheckMatches(check, newSecret()), false)
  assert.equal(secretCheckMatches(check.subarray(1), secret), false)
  assert.equal(secretCheckMatches(Buffer.alloc(0), secret), false)
})
