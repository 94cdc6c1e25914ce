import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { signWebhook } from './sign-webhook.ts'
import { newWebhookSecret, parseWebhookSecret } from './webhook-secret.ts'

const bytesOf = (count: number) => Buffer.from(Array.from({ length: count }, (_, index) => 255 - index))
const base64Of = (count: number) => bytesOf(count).toString('base64')

const keyOf = (text: string) => {
  const parsed = parseWebhookSecret(text)
  assert.ok('key' in parsed, 'the secret is taken')
  return parsed.key
}

test('a new secret is whsec_ and the base64 of 32 bytes, each time others', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret)
  assert.equal(new Set(secrets).size, 100)
  for (const secret of secrets) {
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.equal(keyOf(secret).symmetricKeySize, 32)
  }
})

test('a secret is read with its prefix or without, with its padding or without, as the reference libraries do', () => {
  for (const count of [24, 25, 26, 32, 63, 64]) {
    const digits = base64Of(count)
    const key = createSecretKey(bytesOf(count))
    const id = 'msg_1'
    const body = Buffer.from('{}')
    const expected = signWebhook({ id, timestampSeconds: 1_700_000_000, body }, [key])['webhook-signature']
    for (const written of [digits, digits.replaceAll('=', '')]) {
      for (const text of [written, `whsec_${written}`]) {
        assert.ok(keyOf(text).equals(key), `${count} bytes`)
        const at = new Date(1_700_000_000_000)
        assert.equal(new StandardWebhook(text).sign(id, at, body), expected)
        assert.equal(new SvixWebhook(text).sign(id, at, body), expected)
      }
    }
  }
})

test('a secret that is none is refused for what is wrong with it, and no part of it is shown', () => {
  const refused: Record<string, string> = {
    '': 'the secret is empty',
    whsec_: 'the secret is empty',
    [` whsec_${base64Of(32)}`]: 'the secret begins or ends with a blank',
    [`whsec_${base64Of(32)}\n`]: 'the secret begins or ends with a blank',
    [`whsk_${base64Of(64)}`]:
      'the secret is one of a key pair, for signatures "v1a"; needed is one that begins whsec_',
    [`whpk_${base64Of(32)}`]:
      'the secret is one of a key pair, for signatures "v1a"; needed is one that begins whsec_',
    [`whsec_whsec_${base64Of(32)}`]: 'the secret is not whsec_ and base64',
    [`WHSEC_${base64Of(32)}`]: 'the secret is not whsec_ and base64',
    [`whsec_${bytesOf(32).toString('base64url')}`]: 'the secret is not whsec_ and base64',
    [`whsec_${base64Of(32)}=`]: 'the secret is not whsec_ and base64',
    [`whsec_${base64Of(33)}A`]: 'the secret is not whsec_ and base64',
    [`whsec_${base64Of(15)}\n${base64Of(15)}`]: 'the secret is not whsec_ and base64',
    'whsec_correct horse battery staple': 'the secret is not whsec_ and base64',
    whsec_pässwörter: 'the secret is not whsec_ and base64',
    [`whsec_${base64Of(23)}`]: 'the secret has fewer than 24 bytes',
    [`whsec_${base64Of(65)}`]: 'the secret has more than 64 bytes',
    [base64Of(1_000_000)]: 'the secret has more than 64 bytes',
  }
  for (const [text, expected] of Object.entries(refused)) {
    assert.deepEqual(parseWebhookSecret(text), { fault: expected }, text.slice(0, 80))
  }
})

test('a parsed secret does not show itself when it is printed', () => {
  const bytes = randomBytes(32)
  const shown = inspect(parseWebhookSecret(`whsec_${bytes.toString('base64')}`), { depth: 9 })
  assert.ok(!shown.includes(bytes.toString('base64').slice(0, 6)))
  assert.ok(!shown.replaceAll(' ', '').includes(bytes.toString('hex').slice(0, 6)))
})
