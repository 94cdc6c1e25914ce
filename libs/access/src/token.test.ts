import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '@toolyard/contract/ids'
import { blotTokens, formatToken, newSecret, parseToken, tokenLength } from './token.ts'

const sample = () => ({ id: newId(), secret: newSecret() })

test('a token that was formatted is read back', () => {
  const token = sample()
  assert.deepEqual(parseToken(formatToken(token)), token)
  assert.equal(formatToken(token).length, tokenLength)
})

test('a secret holds 256 bits and none comes twice', () => {
  const secrets = new Set(Array.from({ length: 1_000 }, newSecret))
  assert.equal(secrets.size, 1_000)
  for (const secret of secrets) assert.match(secret, /^[0-9a-f]{64}$/)
})

test('text that is not exactly a token is not read', () => {
  const { id, secret } = sample()
  const malformed = [
    '',
    'yk_',
    `yk_${id}`,
    `yk_${id}_`,
    `yk_${id}_${secret}0`,
    `yk_${id}_${secret.slice(1)}`,
    `yk_${id}_${secret.toUpperCase()}G`,
    `yk_${id}_${'G'.repeat(64)}`,
    `yk_${id.slice(1)}__${secret}`,
    `YK_${id}_${secret}`,
    `yk-${id}-${secret}`,
    ` yk_${id}_${secret}`,
    `yk_${id}_${secret}\n`,
    `yk_${id}_${secret.slice(1)}\n`,
    `yk_${'u'.repeat(26)}_${secret}`,
    `yk_${id}_${'٣'.repeat(64)}`,
    '\0'.repeat(tokenLength),
  ]
  for (const text of malformed) assert.equal(parseToken(text), undefined, JSON.stringify(text))
})

test('tokens inside other text are blotted out, their ids stay', () => {
  const { id, secret } = sample()
  const blotted = blotTokens(
    JSON.stringify({ name: `mine: yk_${id}_${secret}!`, other: `YK_${id}_${secret}` }),
  )
  assert.ok(!blotted.toLowerCase().includes(secret))
  assert.equal(JSON.parse(blotted).name, `mine: yk_${id}_***!`)
})
