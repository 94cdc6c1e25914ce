import assert from 'node:assert/strict'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { problemOf, refusalOf } from '../../fixtures/answers.ts'
import type { SendOptions, Sent } from '../../fixtures/hook-senders.ts'
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
let count = 0

async function start(settings: Partial<TestApiOptions>) {
  return (await startBeside(settings)).send
}

async function startBeside(settings: Partial<TestApiOptions>) {
  const api = await testApi({ databaseUrl: proxy.url, trustedProxies: 1, ...settings })
  for (const name of ['one', 'two']) {
    const stored = await fetch(`${api.url}/tools/${name}/config`, {
      method: 'PUT',
      headers: { ...bearer(admin.token), 'content-type': 'application/json' },
      body: JSON.stringify({ webhook_secret: hookSecret }),
    })
    assert.equal(stored.status, 200)
  }
  const post = (tool: string, address: string, { headers, body }: Sent) => {
    const from = { ...headers, 'x-forwarded-for': address }
    return fetch(`${api.url}/hooks/${tool}`, { method: 'POST', headers: from, body: String(body) })
  }
  const send = (tool: string, address: string, options: SendOptions = {}) =>
    post(tool, address, makeHook('github', `{"n":${(count += 1)}}`, options))
  return { api, post, send }
}

/** Says that much will come; what it sends of it is up to the caller. */
function announce(t: TestContext, url: string, { tool, address }: { tool: string; address: string }) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  t.after(() => socket.destroy())
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
  socket.on('error', () => {})
  const head = [`POST /hooks/${tool} HTTP/1.1`, 'host: x', `x-forwarded-for: ${address}`]
  socket.write([...head, 'content-length: 524288', '', ''].join('\r\n'))
  return { socket, status: () => answer.slice(9, 12) }
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

test('a message that is known already takes nothing of the minute, however often it comes', async () => {
  const { post, send } = await startBeside({ hookCallsPerMinute: 2 })
  const seen = makeHook('github', '{"seen":1}')
  for (let n = 0; n < 5; n++) assert.equal((await post('one', '192.0.2.1', seen)).status, 202)
  assert.equal((await send('one', '192.0.2.1')).status, 202)
  assert.equal(await refusalOf(await send('one', '192.0.2.1')), '429 rate_limited')
  const again = await post('one', '192.0.2.1', seen)
  assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [202, 'true'])
})

test('whoever announces bodies and sends nothing keeps nobody out, and is soon sent away', async (t) => {
  const { api, send } = await startBeside({ authFailuresPerMinute: 1_000 })
  const idle = Array.from({ length: 256 }, (_, n) =>
    announce(t, api.url, { tool: n % 2 === 0 ? 'one' : 'none', address: `198.51.100.${n % 4}` }),
  )
  await waitUntil('all to be connected', () => idle.every(({ socket }) => !socket.connecting))
  for (const tool of ['one', 'two']) assert.equal((await send(tool, '192.0.2.1')).status, 202)
  await waitUntil('them to be sent away', () => idle.every(({ status }) => status() === '400'), 8_000)
})

test('a body for which there is no room is refused in its midst, and those that have theirs are not', async (t) => {
  const { api, send } = await startBeside({ authFailuresPerMinute: 1_000 })
  const half = Buffer.alloc(500_000, ' ')
  const senders = Array.from({ length: 40 }, () =>
    announce(t, api.url, { tool: 'one', address: '198.51.100.1' }),
  )
  for (const { socket } of senders) socket.write(half)
  const refused = () => senders.filter(({ status }) => status() === '429').length
  await waitUntil('those that have no room to be refused', () => refused() >= 7)
  assert.ok(refused() < 10, String(refused()))
  assert.equal((await send('one', '192.0.2.1')).status, 202)
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
