import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseManifest } from './parse-manifest.ts'
import { settingsToHand } from './webhook-trigger.ts'

const least = {
  name: 'a',
  description: 'A tool',
  trigger: { type: 'webhook', auth: 'token' },
  parameters: {},
  returns: {},
  config_schema: { webhook_secret: { secret: true } },
}

function faultsOf(more: object): string[] {
  const parsed = parseManifest({ ...least, ...more })
  return 'faults' in parsed ? parsed.faults.map(({ pointer, detail }) => `${pointer} ${detail}`) : []
}

const faultsOfTrigger = (more: object) => faultsOf({ trigger: { type: 'webhook', ...more } })

function triggerOf(more: object): unknown {
  const parsed = parseManifest({ ...least, trigger: { type: 'webhook', ...more } })
  assert.ok('manifest' in parsed, JSON.stringify(parsed))
  // A catalogue stores what was parsed, and parses it again.
  assert.deepEqual(parseManifest(parsed.manifest), parsed)
  return parsed.manifest.trigger
}

test('the word alone is enough, and each way hands over the headers that say what came', () => {
  for (const auth of ['token', 'standard', 'stripe']) {
    assert.deepEqual(triggerOf({ auth }), { type: 'webhook', auth, headers: ['content-type'] })
  }
  assert.deepEqual(triggerOf({ auth: 'github' }), {
    type: 'webhook',
    auth: 'github',
    headers: ['content-type', 'x-github-event'],
  })
  assert.deepEqual(triggerOf({ auth: 'hmac', hmac: { header: 'X-Signature' }, headers: [] }), {
    type: 'webhook',
    auth: 'hmac',
    headers: [],
    hmac: {
      header: 'X-Signature',
      algorithm: 'sha256',
      encoding: 'hex',
      prefix: '',
      signed: 'body',
      timestamp_unit: 'seconds',
      tolerance_seconds: 300,
    },
  })
})

test('the manifest that docs/tools.md shows is one', () => {
  const page = readFileSync(join(import.meta.dirname, '../../..', 'docs/tools.md'), 'utf8')
  const shown = [...page.matchAll(/^<!-- manifest -->\n```json\n([^]*?)^```$/gm)].map(([, text]) => text)
  assert.equal(shown.length, 1)
  for (const text of shown) {
    const parsed = parseManifest(JSON.parse(text ?? ''))
    assert.ok('manifest' in parsed, JSON.stringify(parsed))
    assert.equal(parsed.manifest.trigger.type, 'webhook')
  }
})

test('headers are named in small letters, 32 at most, and none that proves who speaks', () => {
  assert.deepEqual(faultsOfTrigger({ auth: 'github', headers: ['x-github-hook-id', 'user-agent'] }), [])
  for (const name of ['authorization', 'proxy-authorization', 'cookie', 'x-webhook-token']) {
    assert.deepEqual(faultsOfTrigger({ auth: 'token', headers: ['a', name] }), [
      '/trigger/headers/1 is not handed to tools: it may hold what proves who speaks',
    ])
  }
  for (const name of ['Cookie', 'X-Topic', '', 'a b', 'a:', 'x'.repeat(65)]) {
    assert.equal(faultsOfTrigger({ auth: 'token', headers: [name] }).length, 1, name)
  }
  const many = Array.from({ length: 33 }, (_, index) => `x-${index}`)
  assert.deepEqual(faultsOfTrigger({ auth: 'token', headers: many }), [
    '/trigger/headers must have at most 32 items',
  ])
})

test('a way that is not known, or lacks what it needs, is told as such', () => {
  assert.deepEqual(faultsOfTrigger({ auth: 'basic' }), [
    '/trigger/auth must be one of token, standard, github, stripe, hmac',
  ])
  assert.deepEqual(faultsOfTrigger({ auth: 'hmac' }), ['/trigger/hmac is required'])
  assert.deepEqual(faultsOfTrigger({ auth: 'hmac', hmac: {} }), ['/trigger/hmac/header is required'])
  assert.deepEqual(faultsOfTrigger({ auth: 'hmac', hmac: { header: 'a', algoritm: 'sha1' } }), [
    '/trigger/hmac/algoritm "algoritm" is not known here: did you mean "algorithm"?',
  ])
  assert.deepEqual(faultsOfTrigger({ auth: 'hmac', hmac: { header: 'a', timestamp_header: 't' } }), [
    '/trigger/hmac/signed must have the timestamp if there is a "timestamp_header", and only then: a time that is not signed proves nothing',
  ])
  assert.deepEqual(faultsOfTrigger({ auth: 'github', hmac: { header: 'a' } }), [
    '/trigger/hmac "hmac" is not known here: remove it, or begin it with "x-"',
  ])
})

test('a webhook tool declares its secret, as one', () => {
  const needed =
    '/config_schema must have "webhook_secret" with "secret": true: it proves who sends, and without it every message is refused'
  assert.deepEqual(faultsOf({ config_schema: {} }), [needed])
  assert.deepEqual(faultsOf({ config_schema: { webhook_secret_previous: { secret: true } } }), [needed])
  const open = { webhook_secret: {}, webhook_secret_previous: { secret: false }, other: {} }
  const refused = 'must be true: whoever can read it can send in the name of the sender'
  assert.deepEqual(faultsOf({ config_schema: open }), [
    `/config_schema/webhook_secret/secret ${refused}`,
    `/config_schema/webhook_secret_previous/secret ${refused}`,
  ])
  assert.deepEqual(faultsOf({ config_schema: {}, trigger: { type: 'on_demand' } }), [])
})

test('a webhook tool can be run without params', () => {
  const parameters = {
    needed: { type: 'string', required: true },
    empty: { type: 'string', required: true, default: null },
    filled: { type: 'string', required: true, default: 'x' },
    free: { type: 'string' },
  }
  const refused = 'must be false, or have a default beside it: a webhook brings no params but "_webhook"'
  assert.deepEqual(faultsOf({ parameters }), [
    `/parameters/empty/required ${refused}`,
    `/parameters/needed/required ${refused}`,
  ])
  assert.deepEqual(faultsOf({ parameters, trigger: { type: 'on_demand' } }), [])
})

test('a webhook tool is not handed what its senders prove themselves with', () => {
  const settings = { webhook_secret: 'a', webhook_secret_previous: 'b', api_key: 'c', limit: 1 }
  assert.deepEqual(settingsToHand({ type: 'webhook' }, settings), { api_key: 'c', limit: 1 })
  assert.deepEqual(settingsToHand({ type: 'on_demand' }, settings), settings)
})
