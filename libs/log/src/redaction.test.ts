import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redact, redactText } from './redaction.ts'

test('fields with a secret name are masked at every depth', () => {
  for (const name of [
    'authorization',
    'Authorization',
    'cookie',
    'set-cookie',
    'password',
    'db_password',
    'secret',
    'client_secret',
    'secret_hash',
    'token',
    'access_token',
    'api_key',
    'apikey',
    'private_key',
    'credential',
    'clientSecret',
    'adminToken',
    'userPassword',
    'secretHash',
    'token_hash',
    'tokens',
    'secrets',
    'x-api-key',
    'openai_key',
    'APIKey',
    'Set-Cookie',
  ]) {
    const line = JSON.stringify(redact({ outer: [{ [name]: 'canary' }] }))
    assert.ok(!line.includes('canary'), `${name} leaked: ${line}`)
  }
})

test('names that only resemble a secret stay readable', () => {
  const event = {
    token_count: 7,
    author: 'ada',
    key_id: 'abc',
    passed: true,
    secretary: 'bo',
    monkey: 'see',
    keyboard: 'de',
  }
  assert.deepEqual(redact(event), event)
})

test('values that look like secrets are cut out of any text', () => {
  const cases: [string, string][] = [
    ['key yk_01abc_S3cretPart went', 'key yk_01abc_*** went'],
    ['sent whsec_MfKQ9r8GKYqrTwjU=', 'sent whsec_***'],
    ['Authorization: Bearer abc.def-ghi', 'Authorization: Bearer ***'],
    ['postgres://ada:p@ss@db:5432/x failed', 'postgres://***@db:5432/x failed'],
    ['redis://:hunter2@cache:6379', 'redis://***@cache:6379'],
    ['postgres://h/d?password=hunter2&x=1', 'postgres://h/d?password=***&x=1'],
    ['login --api-key=hunter2 ok', 'login --api-key=*** ok'],
    ['{"client_secret": "hunter 2", "a": 1}', '{"client_secret": ***, "a": 1}'],
    ['hash $argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA stored', 'hash $argon2*** stored'],
  ]
  for (const [text, expected] of cases) assert.equal(redactText(text), expected)
})

test('errors keep type, message, code and cause, all redacted', () => {
  const cause = Object.assign(new Error('connect postgres://ada:hunter2@db/x'), { code: 'ECONNREFUSED' })
  const line = JSON.stringify(redact(new Error('yk_01abc_hunter2 refused', { cause })))
  assert.ok(!line.includes('hunter2'), line)
  assert.match(line, /ECONNREFUSED/)
  assert.match(line, /yk_01abc_\*\*\* refused/)
})

test('a cycle ends instead of overflowing the stack', () => {
  const ring: Record<string, unknown> = {}
  ring['self'] = ring
  assert.match(JSON.stringify(redact(ring)), /too deep/)
})
