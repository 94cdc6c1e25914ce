import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { newWebhookSecret } from '../signing/webhook-secret.ts'
import { verifyIncoming } from './verify-incoming.ts'

const sentSeconds = 1_700_000_000
const now = new Date(sentSeconds * 1_000)
const body = Buffer.from('{"type":"user.created","data":{"name":"Jörg"}}')
const secret = newWebhookSecret()

const headersOf = (prefix: string, signature: string) => ({
  [`${prefix}-id`]: 'msg_1',
  [`${prefix}-timestamp`]: String(sentSeconds),
  [`${prefix}-signature`]: signature,
})

const verify = (headers: Record<string, string>, secrets: readonly string[] = [secret]) =>
  verifyIncoming({ headers, body }, { auth: 'standard' }, secrets, now)

const reasonOf = (headers: Record<string, string>, secrets?: readonly string[]) => {
  const verified = verify(headers, secrets)
  return verified.ok ? 'ok' : verified.reason
}

const signed = new StandardWebhook(secret).sign('msg_1', now, body)
const foreign = new StandardWebhook(newWebhookSecret()).sign('msg_1', now, body)

test('both families of headers are taken, of both libraries, in any case', () => {
  for (const Webhook of [StandardWebhook, SvixWebhook]) {
    const signature = new Webhook(secret).sign('msg_1', now, body)
    for (const prefix of ['webhook', 'svix', 'Webhook', 'Svix']) {
      assert.deepEqual(verify(headersOf(prefix, signature)), { ok: true, eventId: 'msg_1', sentAt: now })
      assert.equal(reasonOf(headersOf(prefix, signature), [newWebhookSecret(), secret]), 'ok')
      assert.equal(reasonOf(headersOf(prefix, signature), [newWebhookSecret()]), 'no_match')
      assert.equal(reasonOf(headersOf(prefix, signature), [secret.slice('whsec_'.length)]), 'ok')
    }
  }
})

test('the families are not mixed', () => {
  const standard = headersOf('webhook', signed)
  const svix = headersOf('svix', signed)
  assert.equal(reasonOf({ ...svix, ...standard }), 'ok')
  assert.equal(reasonOf({ ...svix, ...headersOf('webhook', foreign) }), 'no_match')
  for (const name of ['id', 'timestamp', 'signature']) {
    const { [`webhook-${name}`]: _, ...incomplete } = standard
    assert.equal(reasonOf({ ...incomplete, [`svix-${name}`]: svix[`svix-${name}`] ?? '' }), 'header_missing')
  }
  assert.equal(reasonOf({}), 'header_missing')
})

test('a change of what svix headers say is refused as well', () => {
  const svix = headersOf('svix', signed)
  assert.equal(reasonOf({ ...svix, 'svix-id': 'msg_2' }), 'no_match')
  assert.equal(reasonOf({ ...svix, 'svix-timestamp': String(sentSeconds + 1) }), 'no_match')
  assert.equal(reasonOf({ ...svix, 'svix-timestamp': String(sentSeconds - 301) }), 'too_old')
  assert.equal(reasonOf({ ...svix, 'svix-timestamp': String(sentSeconds + 301) }), 'too_new')
  assert.equal(reasonOf({ ...svix, 'svix-signature': `v1a${signed.slice(2)}` }), 'no_match')
})

test('a secret that is none of the standard is told as misconfigured, beside a good one too', () => {
  for (const bad of ['correct-horse-battery-staple', 'whsec_AAAAAAAAAAAAAAAA', `v1,${secret}`]) {
    assert.equal(reasonOf(headersOf('webhook', signed), [bad]), 'misconfigured')
    assert.equal(reasonOf(headersOf('webhook', signed), [secret, bad]), 'misconfigured')
  }
})
