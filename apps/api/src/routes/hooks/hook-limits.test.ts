import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { problemOf, refusalOf } from '../../fixtures/answers.ts'
import type { SendOptions } from '../../fixtures/hook-senders.ts'
import { hookSecret, makeHook, otherHookSecret } from '../../fixtures/hook-senders.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import type { TestApiOptions } from '../../fixtures/test-api.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const trigger = { type: 'webhook', auth: 'github' }
const more = { trigger, parameters: {}, config_schema: { webhook_secret: { secret: true } } }
await publishTools(pool, [newManifest('one', more), newManifest('two', more)])
for (const name of ['one', 'two']) await buildTool(pool, name)

const admin = await makeKey(pool, { scopes: ['tools:configure'] })
const proxy = await stallableProxy(databaseUrl)

async function start(settings: Partial<TestApiOptions>) {
  const api = await testApi({ databaseUrl: proxy.url, trustedProxies: 1, ...settings })
  for (const name of ['one', 'two']) {
    const stored = await fetch(`${api.url}/tools/${name}/config`, {
      method: 'PUT',
      headers: { ...bearer(admin.token), 'content-type': 'application/json' },
      body: JSON.stringify({ webhook_secret: hookSecret }),
    })
    assert.equal(stored.status, 200)
  }
  let count = 0
  return (tool: string, address: string, options: SendOptions = {}) => {
    const { headers, body } = makeHook('github', `{"n":${(count += 1)}}`, options)
    const from = { ...headers, 'x-forwarded-for': address }
    return fetch(`${api.url}/hooks/${tool}`, { method: 'POST', headers: from, body: String(body) })
  }
}

const wrong = { secret: otherHookSecret }

test('an address that is not believed too often is told to wait, for any tool; who is known still comes through', async () => {
  const send = await start({ authFailuresPerMinute: 3 })
  for (const tool of ['one', 'none', 'two']) assert.equal((await send(tool, '192.0.2.1', wrong)).status, 401)
  for (const tool of ['one', 'none', 'two']) {
    const answer = await send(tool, '192.0.2.1', wrong)
    const retryAfter = Number(answer.headers.get('retry-after'))
    assert.ok(retryAfter > 50 && retryAfter <= 60)
    assert.equal(await refusalOf(answer), '429 rate_limited')
  }
  assert.equal((await send('one', '192.0.2.1')).status, 202, 'a neighbour behind the same address')
  assert.equal((await send('one', '192.0.2.2', wrong)).status, 401)
})

test('each tool takes so many messages a minute, and what is not believed does not count', async () => {
  const send = await start({ hookCallsPerMinute: 2 })
  await send('one', '192.0.2.1', wrong)
  assert.equal((await send('one', '192.0.2.1')).status, 202)
  assert.equal((await send('one', '192.0.2.2')).status, 202)
  const answer = await send('one', '192.0.2.3')
  const retryAfter = Number(answer.headers.get('retry-after'))
  assert.ok(retryAfter > 50 && retryAfter <= 60)
  assert.equal(await refusalOf(answer), '429 rate_limited')
  assert.equal((await send('one', '192.0.2.3', wrong)).status, 401, 'a stranger is not told of it')
  assert.equal((await send('two', '192.0.2.3')).status, 202)
})

test('without the database nobody is believed, and all are told the same', async () => {
  const send = await start({})
  assert.equal((await send('one', '192.0.2.1')).status, 202)
  proxy.cut()
  const answers = await Promise.all([send('one', '192.0.2.1'), send('none', '192.0.2.1', wrong)])
  const told = await Promise.all(
    answers.map(async (answer) => {
      assert.ok(answer.headers.get('retry-after'))
      const { code, detail } = await problemOf(answer)
      return [code, detail]
    }),
  )
  assert.equal(told[0]?.[0], 'store_unavailable')
  assert.deepEqual(told[1], told[0])
  proxy.mend()
})
