import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { createSender } from './create-sender.ts'
import { addressReply, startDnsServer } from './fixtures/dns-server.ts'
import type { Receiver } from './fixtures/receiver.ts'
import { pour, startHttp, startRaw, startSilent } from './fixtures/receiver.ts'
import { readGuardRules } from './guard-rules.ts'
import type { PostAnswer, PostRequest } from './post.ts'

const body = Buffer.from('{"a":"ü"}')
const headers = { 'content-type': 'application/json', 'webhook-id': 'msg_1' }

function postTo(receiver: Receiver, request: Partial<PostRequest> = {}): Promise<PostAnswer> {
  const rules = readGuardRules({ allowHttp: true, ports: [receiver.port], allow: ['127.0.0.1'] })
  const url = `http://127.0.0.1:${receiver.port}/hook?a=1`
  return createSender({ rules }).post({ url, headers, body, ...request })
}

/** What was answered, without the time it took: never much more than the 300 ms that some of these tests give. */
function outcome({ tookMs, ...rest }: PostAnswer) {
  assert.ok(Number.isInteger(tookMs) && tookMs >= 0 && tookMs < 5_000, String(tookMs))
  return rest
}

const brokenOff = (detail: string) => ({ kind: 'unreachable', reason: 'broken_off', detail })
const timedOut = (phase: string) => ({
  kind: 'unreachable',
  reason: 'timeout',
  detail: `300 ms were over while ${phase}`,
})

function answerWith(status: number, answerHeaders: Record<string, string>, answerBody = '') {
  return (_: IncomingMessage, response: ServerResponse) =>
    response.writeHead(status, answerHeaders).end(answerBody)
}

test('one POST goes out as it was asked for, and its answer comes back', async (t) => {
  const seen: unknown[] = []
  const receiver = await startHttp(t, (request, response) => {
    request.on('data', (chunk) => {
      seen.push([request.method, request.url, request.headers, String(chunk)])
      response.writeHead(200, { 'x-other': '1' }).end('thank\u0000s\n')
    })
  })
  assert.deepEqual(outcome(await postTo(receiver)), { kind: 'answered', status: 200, body: 'thanks\n' })
  const host = `127.0.0.1:${receiver.port}`
  assert.deepEqual(seen, [
    ['POST', '/hook?a=1', { ...headers, host, connection: 'close', 'content-length': '10' }, '{"a":"ü"}'],
  ])
})

for (const [status, retryAfter] of [
  [200, undefined],
  [204, undefined],
  [304, undefined],
  [400, undefined],
  [410, undefined],
  [429, '120'],
  [500, undefined],
  [503, 'Wed, 21 Oct 2026 07:28:00 GMT'],
  [599, undefined],
] as const)
  test(`a status ${status} is passed on${retryAfter === undefined ? '' : ', with its Retry-After'}`, async (t) => {
    const receiver = await startHttp(
      t,
      answerWith(status, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }),
    )
    const expected = { kind: 'answered', status, body: '', ...(retryAfter !== undefined && { retryAfter }) }
    assert.deepEqual(outcome(await postTo(receiver)), expected)
  })

for (const status of [300, 301, 302, 303, 307, 308])
  test(`a redirect ${status} is an answer and is not followed`, async (t) => {
    const inner = await startHttp(t, answerWith(200, {}, 'secret'))
    const location = `http://127.0.0.1:${inner.port}/latest/meta-data`
    const receiver = await startHttp(t, answerWith(status, { location, refresh: `0; url=${location}` }))
    assert.deepEqual(outcome(await postTo(receiver)), { kind: 'answered', status, body: '' })
    assert.equal(inner.connectionCount(), 0)
    assert.equal(receiver.connectionCount(), 1)
  })

test('every POST has a connection of its own', async (t) => {
  const receiver = await startHttp(t, answerWith(200, { connection: 'keep-alive' }))
  const rules = readGuardRules({ allowHttp: true, ports: [receiver.port], allow: ['127.0.0.1'] })
  const sender = createSender({ rules })
  for (let count = 1; count <= 3; count++) {
    await sender.post({ url: `http://127.0.0.1:${receiver.port}/`, headers, body })
    assert.equal(receiver.connectionCount(), count)
  }
})

test('of a long body 4,096 bytes are read, and then the connection is closed', async (t) => {
  const receiver = await startRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    pour(socket, 'x')
  })
  const expected = { kind: 'answered', status: 200, body: 'x'.repeat(4_096) }
  assert.deepEqual(outcome(await postTo(receiver)), expected)
  await waitUntil('the server to be hung up on', () => receiver.openCount() === 0)
})

test('a body of exactly 4,096 bytes whose end never comes is an answer', async (t) => {
  const receiver = await startHttp(t, (_, response) => response.write('x'.repeat(4_096)))
  assert.deepEqual(outcome(await postTo(receiver)), {
    kind: 'answered',
    status: 200,
    body: 'x'.repeat(4_096),
  })
})

const brokenAnswers: [what: string, bytes: string, detail: string][] = [
  ['nothing', '', 'the connection was reset'],
  ['half a head', 'HTTP/1.1 200 OK\r\nA: b', 'the connection was reset'],
  [
    'half a body',
    'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf',
    'the connection was closed in the middle of an answer of status 200',
  ],
  [
    'half a chunk',
    'HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha',
    'the connection was closed in the middle of an answer of status 500',
  ],
  ['another protocol', '220 mail.example ESMTP\r\n', 'the answer is not HTTP (HPE_INVALID_CONSTANT)'],
  ['HTTP/0.9', '<html>secret</html>', 'the answer is not HTTP (HPE_INVALID_CONSTANT)'],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    'the answer is not HTTP (HPE_UNEXPECTED_CONTENT_LENGTH)',
  ],
]

for (const [what, bytes, detail] of brokenAnswers)
  test(`a server that says ${what} and goes has broken off`, async (t) => {
    const receiver = await startRaw(t, (socket) => socket.end(bytes))
    assert.deepEqual(outcome(await postTo(receiver)), brokenOff(detail))
  })

test('a server that resets the connection has broken off', async (t) => {
  const receiver = await startRaw(t, (socket) => socket.resetAndDestroy())
  assert.deepEqual(outcome(await postTo(receiver)), brokenOff('the connection was reset'))
})

test('an answer without a length ends with its connection', async (t) => {
  const receiver = await startRaw(t, (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nold'))
  assert.deepEqual(outcome(await postTo(receiver)), { kind: 'answered', status: 200, body: 'old' })
})

test('an answer that comes before the whole of a large body was sent counts', async (t) => {
  const receiver = await startRaw(t, (socket) =>
    socket.write('HTTP/1.1 413 X\r\nContent-Length: 2\r\n\r\nno'),
  )
  const answer = await postTo(receiver, { body: Buffer.alloc(8_000_000, 'x') })
  assert.deepEqual(outcome(answer), { kind: 'answered', status: 413, body: 'no' })
})

test('a change of protocols is only a status', async (t) => {
  const receiver = await startRaw(t, (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nsecret'),
  )
  assert.deepEqual(outcome(await postTo(receiver)), { kind: 'answered', status: 101, body: '' })
})

test('interim answers are passed over, but not without end', async (t) => {
  const hint = 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'
  const few = await startRaw(t, (socket) =>
    socket.write(`HTTP/1.1 100 Continue\r\n\r\n${hint.repeat(3)}HTTP/1.1 204 No Content\r\n\r\n`),
  )
  assert.deepEqual(outcome(await postTo(few)), { kind: 'answered', status: 204, body: '' })
  for (const interim of [hint, 'HTTP/1.1 100 Continue\r\n\r\n']) {
    const endless = await startRaw(t, (socket) => pour(socket, interim))
    assert.deepEqual(outcome(await postTo(endless)), brokenOff('it sent too many interim answers'))
  }
})

for (const [what, start, piece] of [
  ['header lines', 'HTTP/1.1 200 OK\r\n', 'A: b\r\n'],
  ['one header', 'HTTP/1.1 200 OK\r\nA: ', 'bbbb'],
  ['a status line', 'HTTP/1.1 200 ', 'OK'],
] as const)
  test(`${what} without end are cut off`, async (t) => {
    const receiver = await startRaw(t, (socket) => {
      socket.write(start)
      pour(socket, piece)
    })
    assert.deepEqual(outcome(await postTo(receiver)), brokenOff('the headers of the answer are too long'))
  })

test('trailers without end are cut off', async (t) => {
  const receiver = await startRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n')
    pour(socket, 'A: b\r\n')
  })
  assert.deepEqual(outcome(await postTo(receiver)), brokenOff('the headers of the answer are too long'))
})

for (const [what, bytes] of [
  ['the head', ''],
  ['the middle of the head', 'HTTP/1.1 200 OK\r\nA: '],
  ['the body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'],
] as const)
  test(`a server that hangs in ${what} runs into the deadline, and is hung up on`, async (t) => {
    const receiver = await startRaw(t, (socket) => {
      if (bytes !== '') socket.write(bytes)
    })
    assert.deepEqual(outcome(await postTo(receiver, { deadlineMs: 300 })), timedOut('waiting for the answer'))
    await waitUntil('the server to be hung up on', () => receiver.openCount() === 0)
  })

test('a server that drips runs into the one deadline too', async (t) => {
  const receiver = await startRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    const dripping = setInterval(() => socket.write('x'), 20)
    socket.on('close', () => clearInterval(dripping))
  })
  assert.deepEqual(outcome(await postTo(receiver, { deadlineMs: 300 })), timedOut('waiting for the answer'))
})

test('a server that takes nothing runs into the deadline', async (t) => {
  const receiver = await startRaw(t, (socket) => socket.pause())
  const answer = await postTo(receiver, { deadlineMs: 300, body: Buffer.alloc(32_000_000) })
  assert.deepEqual(outcome(answer), timedOut('waiting for the answer'))
})

test('a name server that keeps silent runs into the deadline', async (t) => {
  const dns = await startDnsServer(t, () => 'silence')
  const sender = createSender({ rules: readGuardRules({}), dnsServers: [dns.server] })
  const answer = await sender.post({ url: 'https://hooks.example/', headers, body, deadlineMs: 300 })
  assert.deepEqual(outcome(answer), timedOut('looking up the name'))
})

test('where nobody listens, that is said', async (t) => {
  const gone = await startSilent(t)
  const rules = readGuardRules({ allowHttp: true, ports: [1, gone.port], allow: ['127.0.0.1'] })
  const answer = await createSender({ rules }).post({ url: 'http://127.0.0.1:1/', headers, body })
  assert.deepEqual(outcome(answer), {
    kind: 'unreachable',
    reason: 'connect',
    detail: 'the connection was refused',
  })
})

test('the next address is dialled where one takes no connection, and no further', async (t) => {
  const receiver = await startHttp(t, answerWith(200, {}, 'second'), { host: '127.0.0.2' })
  const dns = await startDnsServer(t, (question) =>
    addressReply(question, ['127.0.0.1', '127.0.0.2', '127.0.0.3']),
  )
  const rules = readGuardRules({ allowHttp: true, ports: [receiver.port], allow: ['127.0.0.0/8'] })
  const sender = createSender({ rules, dnsServers: [dns.server] })
  const answer = await sender.post({ url: `http://hooks.example:${receiver.port}/`, headers, body })
  assert.deepEqual(outcome(answer), { kind: 'answered', status: 200, body: 'second' })
  assert.equal(receiver.connectionCount(), 1)
})

test('once something was sent, no other address is tried', async (t) => {
  const first = await startRaw(t, (socket) => socket.resetAndDestroy())
  const dns = await startDnsServer(t, (question) => addressReply(question, ['127.0.0.1', '127.0.0.2']))
  const rules = readGuardRules({ allowHttp: true, ports: [first.port], allow: ['127.0.0.0/8'] })
  const sender = createSender({ rules, dnsServers: [dns.server] })
  const answer = await sender.post({ url: `http://hooks.example:${first.port}/`, headers, body })
  assert.deepEqual(outcome(answer), brokenOff('the connection was reset'))
})

test('the caller can cancel, before and while it waits', async (t) => {
  const receiver = await startSilent(t)
  const reason = new Error('shutting down')
  await assert.rejects(postTo(receiver, { signal: AbortSignal.abort(reason) }), reason)
  assert.equal(receiver.connectionCount(), 0)
  const stop = new AbortController()
  const waiting = postTo(receiver, { signal: stop.signal })
  await waitUntil('the connection', () => receiver.connectionCount() === 1)
  stop.abort(reason)
  await assert.rejects(waiting, reason)
  await waitUntil('the server to be hung up on', () => receiver.openCount() === 0)
})

test('headers that would change the request are a fault of the caller', async (t) => {
  const receiver = await startSilent(t)
  for (const name of ['Host', 'connection', 'Content-Length', 'Transfer-Encoding', 'expect', 'upgrade'])
    await assert.rejects(postTo(receiver, { headers: { [name]: 'x' } }), TypeError, name)
  for (const bad of [{ 'a\r\nb': 'x' }, { a: 'x\r\nHost: y' }, { a: '\u0000' }])
    await assert.rejects(postTo(receiver, { headers: bad }), TypeError)
})
