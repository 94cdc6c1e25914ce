import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { after, test } from 'node:test'
import { createLogger } from '@toolyard/log/logger'
import { createMetrics } from '@toolyard/log/metrics'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { closing, head, rawExchange } from './fixtures/raw-exchange.ts'
import { testApi } from './fixtures/test-api.ts'
import { bearer, makeKey } from './fixtures/test-keys.ts'
import { createUnreadRefuser } from './http/refuse-unread.ts'
import type { Listening, ListenOptions } from './listen.ts'
import { listen } from './listen.ts'

const { pool, url: databaseUrl } = await testDatabase()

const options = (): ListenOptions => ({
  fetch: () => new Response('ok'),
  refuseUnread: createUnreadRefuser({
    log: createLogger({ service: 'api', level: 'error', destination: { write: () => {} } }),
    metrics: createMetrics('api'),
  }),
  onError: (error) => assert.ifError(error),
  host: '127.0.0.1',
  port: 0,
})

async function listening(special: Partial<ListenOptions>): Promise<Listening> {
  const server = await listen({ ...options(), ...special })
  after(() => server.close(AbortSignal.abort()))
  return server
}

/** A request that is under way for as long as the table it reads is locked. */
async function stuckRequest(path = '/audit', table = 'audit') {
  const api = await testApi({ databaseUrl })
  const { token } = await makeKey(pool)
  assert.equal((await fetch(`${api.url}/keys`, { headers: bearer(token) })).status, 200)
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query(`lock table ${table} in access exclusive mode`)
  const answer = fetch(`${api.url}${path}`, { headers: bearer(token) })
  await waitUntil('the request waits for the lock', async () => {
    const found = await pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return found.rowCount === 1
  })
  const unlock = async () => {
    await holder.query('rollback')
    holder.release()
  }
  return { api, answer, unlock, token }
}

test('draining ends what is under way, closes what is idle, and takes nothing new', async () => {
  const { api, answer, unlock } = await stuckRequest()
  const { hostname, port } = new URL(api.url)
  const silent = connect(Number(port), hostname)
  const agent = new Agent({ keepAlive: true })
  after(() => agent.destroy())
  await new Promise<void>((resolve, reject) => {
    request(`${api.url}/healthz`, { agent }, (response) => response.resume().once('end', resolve))
      .once('error', reject)
      .end()
  })
  const [idle] = await waitUntil('an idle connection', () => Object.values(agent.freeSockets)[0])
  assert(idle)
  const closed = Promise.all([closing(silent), closing(idle)])
  const beganAtMs = performance.now()
  const drained = api.drain(AbortSignal.timeout(20_000))
  await closed
  await assert.rejects(once(connect(Number(port), hostname), 'connect'), { code: 'ECONNREFUSED' })
  await unlock()
  const ended = await answer
  assert.equal(ended.status, 200)
  assert.equal(ended.headers.get('connection'), 'close')
  assert.ok(Array.isArray(((await ended.json()) as { entries: unknown[] }).entries))
  await drained
  assert.ok(performance.now() - beganAtMs < 3_000, 'no keep-alive connection was waited for')
})

test('what does not end in time is cut, also when there is no time left', async () => {
  for (const deadline of [AbortSignal.timeout(50), AbortSignal.abort()]) {
    const { api, answer, unlock } = await stuckRequest()
    const outcome = answer.then(
      () => 'answered',
      () => 'cut',
    )
    await api.drain(deadline)
    assert.equal(await outcome, 'cut')
    await unlock()
  }
})

test('who asks for readiness while draining begins is told', async () => {
  const { api, answer, unlock } = await stuckRequest('/readyz', 'processes')
  const drained = api.drain(AbortSignal.timeout(20_000))
  await unlock()
  const said = await answer
  assert.equal(said.status, 503)
  assert.match(await said.text(), /"api":\{"state":"draining"\}/)
  await drained
})

test('a client that leaves before its answer breaks nothing', async () => {
  const { api, answer, unlock, token } = await stuckRequest()
  const leaving = new AbortController()
  const left = fetch(`${api.url}/audit`, { headers: bearer(token), signal: leaving.signal }).catch(
    () => 'left',
  )
  await waitUntil('it has arrived', async () => {
    const found = await pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return found.rowCount === 2
  })
  leaving.abort()
  assert.equal(await left, 'left')
  await unlock()
  assert.equal((await answer).status, 200)
  await waitUntil('both are recorded', () => {
    const audits = api.events().filter((event) => event['route'] === '/audit')
    return audits.length === 2 && audits.every((event) => event['status'] === 200)
  })
})

test('a head that arrives too slowly is answered 408, a body that does is cut', async () => {
  const arrival = { headersMs: 150, requestMs: 300, checkEveryMs: 30 }
  const { url } = await listening({ arrival })
  assert.match(await rawExchange(url, 'GET /healthz HTTP/1.1\r\nHost: x\r\n'), /^HTTP\/1\.1 408 /)
  assert.match(await rawExchange(url, 'GET /heal'), /^HTTP\/1\.1 408 /)
  const slow = await listening({
    arrival,
    fetch: async (incoming: Request) => new Response(await incoming.text()),
  })
  assert.equal(await rawExchange(slow.url, head('POST / HTTP/1.1', 'Content-Length: 10'), 'half'), '')
})

test('requests that two readers could read differently are refused', async () => {
  const api = await testApi({ databaseUrl })
  const refused = [
    head('POST /keys HTTP/1.1', 'Content-Length: 3', 'Content-Length: 5') + 'hello',
    head('POST /keys HTTP/1.1', 'Content-Length: 5, 5') + 'hello',
    head('POST /keys HTTP/1.1', 'Content-Length: -5') + 'hello',
    head('POST /keys HTTP/1.1', 'Content-Length: +5') + 'hello',
    head('POST /keys HTTP/1.1', 'Content-Length: 5', 'Transfer-Encoding: chunked') + '0\r\n\r\n',
    head('POST /keys HTTP/1.1', 'Transfer-Encoding: chunked', 'Content-Length: 5') + '0\r\n\r\n',
    head('POST /keys HTTP/1.1', 'Transfer-Encoding: chunked, identity') + '0\r\n\r\n',
    head('POST /keys HTTP/1.1', 'Transfer-Encoding : chunked') + '0\r\n\r\n',
    head('POST /keys HTTP/1.1', 'Transfer-Encoding:\x0bchunked') + '0\r\n\r\n',
    head('GET /healthz HTTP/1.1', 'X-Folded: a', ' b'),
    head('GET /healthz HTTP/1.1', 'X-Nul: a\0b'),
    head('GET /healthz HTTP/1.1', 'No colon'),
    head('GET /healthz HTTP/1.1', `X-Huge: ${'x'.repeat(100_000)}`),
    head(`GET /${'x'.repeat(100_000)} HTTP/1.1`),
    head('GET /healthz HTTP/1.1', ...Array.from({ length: 20_000 }, (_, n) => `X-${n}: 1`)),
    head('GET /heal thz HTTP/1.1'),
    head('GET /healthz\u00a0 HTTP/1.1'),
    head('get /healthz HTTP/1.1'),
    head('GET /healthz HTTP/3.7'),
    'GET /healthz HTTP/1.1\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: a/b@c\r\n\r\n',
    'GET /healthz HTTP/1.1\nHost: x\n\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    '\0\0\0\0\r\n\r\n',
  ]
  for (const bytes of refused) {
    const received = await rawExchange(
      api.url,
      Buffer.from(bytes, 'latin1'),
      head('GET /healthz HTTP/1.1', 'Connection: close'),
    )
    const what = JSON.stringify(bytes.slice(0, 90))
    assert.match(received, /^HTTP\/1\.1 4\d\d /, what)
  }
  assert.match(await rawExchange(api.url, 'GET /healthz\r\n\r\n'), /^HTTP\/1\.1 4\d\d /, 'HTTP/0.9')
  assert.match(await rawExchange(api.url, head('CONNECT evil.example:443 HTTP/1.1')), /^$|^HTTP\/1\.1 4\d\d /)
  assert.equal((await fetch(`${api.url}/healthz`)).status, 200)
  assert.doesNotMatch(api.logText(), /"status":5\d\d/)
})

test('garbage behind a request that is under way gets no bytes into its answer', async () => {
  const gate = Promise.withResolvers<void>()
  const { url } = await listening({
    fetch: async () => {
      await gate.promise
      return new Response('ok')
    },
  })
  const received = await rawExchange(url, head('GET / HTTP/1.1'), 'GARBAGE\r\n\r\n')
  gate.resolve()
  assert.equal(received, '')
})

test('a port that is taken is told with its mend', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  after(() => other.close())
  await waitUntil('it listens', () => other.listening)
  const address = other.address()
  assert(typeof address === 'object' && address !== null)
  const { port } = address
  await assert.rejects(listen({ ...options(), port }), {
    message: `port ${port} is taken: free it or set YARD_PORT`,
  })
})
