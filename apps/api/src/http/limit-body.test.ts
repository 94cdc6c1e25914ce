import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { refusalOf } from '../fixtures/answers.ts'
import { closing, head, rawExchange } from '../fixtures/raw-exchange.ts'
import { testApi } from '../fixtures/test-api.ts'
import { bearer, makeKey } from '../fixtures/test-keys.ts'

const { pool, url: databaseUrl } = await testDatabase()
const { url, events } = await testApi({ databaseUrl })
const { token } = await makeKey(pool)

const json = { ...bearer(token), 'content-type': 'application/json' }
const validBody = JSON.stringify({ name: 'x', scopes: ['keys:manage'] })
const mebibyte = 1_048_576

/** A chunked body, as it goes over the wire without a length. */
function* chunksOf(text: string, times = 1): Generator<Uint8Array> {
  for (let i = 0; i < times; i++) yield Buffer.from(text)
}
const streamed = (text: string, times?: number): RequestInit => ({
  method: 'POST',
  headers: json,
  body: ReadableStream.from<Uint8Array>(chunksOf(text, times)),
  duplex: 'half',
})

test('a body of 5 MiB is refused, with its length told', async () => {
  const answer = await fetch(`${url}/keys`, {
    method: 'POST',
    headers: json,
    body: Buffer.alloc(5 * mebibyte, ' '),
  })
  assert.equal(await refusalOf(answer), '413 payload_too_large')
})

test('a body of 5 MiB is refused, with its length not told', async () => {
  const answer = await fetch(`${url}/keys`, streamed(' '.repeat(65_536), 80))
  assert.equal(await refusalOf(answer), '413 payload_too_large')
})

test('the largest body that is allowed is read, and one byte more is not, told or not', async () => {
  const padded = validBody.padEnd(mebibyte, ' ')
  for (const [body, status] of [
    [padded, 201],
    [`${padded} `, 413],
  ] as const) {
    assert.equal((await fetch(`${url}/keys`, { method: 'POST', headers: json, body })).status, status)
    assert.equal((await fetch(`${url}/keys`, streamed(body))).status, status)
  }
})

test('a small body without a told length is read', async () => {
  const answer = await fetch(`${url}/keys`, streamed(validBody))
  assert.equal(answer.status, 201)
})

test('after a refusal the same connection serves the next request', async () => {
  const body = 'x'.repeat(mebibyte + 1)
  const received = await rawExchange(
    url,
    head('POST /keys HTTP/1.1', `Content-Length: ${body.length}`),
    body,
    head('GET /healthz HTTP/1.1', 'Connection: close'),
  )
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])
  assert.deepEqual(statuses, ['413', '200'])
})

test('a length that is told in order to hide a chunked body does not help', async () => {
  const received = await rawExchange(
    url,
    head('POST /keys HTTP/1.1', 'Content-Length: 5', 'Transfer-Encoding: chunked'),
    `5\r\nhello\r\n0\r\n\r\n`,
  )
  assert.match(received, /^HTTP\/1\.1 400 /)
})

test('who has no key is refused before the body is read, and cannot make the server take it in', async () => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  socket.write(head('POST /keys HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked'))
  socket.write(`10000\r\n${' '.repeat(65_536)}\r\n`)
  await waitUntil('the answer, while the body goes on', () => received.startsWith('HTTP/1.1 401 '))
  const before = process.memoryUsage()
  const pump = () => {
    while (socket.writable && socket.write(`10000\r\n${' '.repeat(65_536)}\r\n`));
  }
  socket.on('drain', pump)
  pump()
  await closing(socket)
  const after = process.memoryUsage()
  assert.ok(after.arrayBuffers - before.arrayBuffers < 32 * mebibyte, 'what is discarded is not kept')
})

test('a client that leaves in the middle of its body is recorded as gone, not as a fault of ours', async () => {
  for (const framing of ['Content-Length: 1000', 'Transfer-Encoding: chunked']) {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    const count = events().length
    const lines = [`Authorization: Bearer ${token}`, 'Content-Type: application/json', framing]
    socket.write(`${head('POST /keys HTTP/1.1', ...lines)}5\r\nhello\r\n`)
    await waitUntil('the body has begun to arrive', () => socket.bytesWritten > 0 && !socket.pending)
    socket.resetAndDestroy()
    const event = await waitUntil('the event', () => events()[count])
    assert.equal(event['client_left'], true)
    assert.equal(event['status'], 400)
    assert.equal(event['level'], 'info')
  }
})
