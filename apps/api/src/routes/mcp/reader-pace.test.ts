import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { getRequestListener } from '@hono/node-server'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { head } from '../../fixtures/raw-exchange.ts'
import { createReaderPace } from './reader-pace.ts'

function openSource() {
  let source: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (source = controller) })
  return { body, give: (text: string) => source?.enqueue(Buffer.from(text)), end: () => source?.close() }
}

const never = () => assert.fail('it is told of')

test('a reader is behind once it has left something for long, and no more when it asks for the next', async () => {
  let nowMs = 0
  const pace = createReaderPace({ onStalled: never, now: () => nowMs })
  assert.equal(pace.isBehind(), false, 'nothing has been told yet')
  const source = openSource()
  const reader = pace.follow(source.body).getReader()
  source.give('one')
  assert.equal(String((await reader.read()).value), 'one')
  nowMs = 200
  assert.equal(pace.isBehind(), false)
  nowMs = 5_000
  assert.equal(pace.isBehind(), true)
  const next = reader.read()
  await waitUntil('the next to be asked for', () => !pace.isBehind())
  source.give('two')
  assert.equal(String((await next).value), 'two')
  const last = reader.read()
  source.end()
  assert.equal((await last).done, true)
})

test('a reader that takes nothing is told of, and one that waits for more is not', async () => {
  let stalledCount = 0
  const pace = createReaderPace({
    onStalled: () => (stalledCount += 1),
    times: { behindAfterMs: 0, stalledMaxMs: 20 },
  })
  const stalled = pace.follow(ReadableStream.from([Buffer.from('one'), Buffer.from('two')]))
  assert.equal(String((await stalled.getReader().read()).value), 'one')
  await waitUntil('it to be told of', () => stalledCount === 1)
  const source = openSource()
  const waiting = pace.follow(source.body).getReader()
  source.give('one')
  await waiting.read()
  const second = waiting.read()
  const other = pace.follow(ReadableStream.from([Buffer.from('one')]))
  await other.getReader().read()
  await waitUntil('the other to be told of, which was read later', () => stalledCount === 2)
  await waiting.cancel()
  assert.equal((await second).done, true)
})

test('the connection of a reader that takes nothing is closed, and the body with it', async (t) => {
  const ended = Promise.withResolvers<unknown>()
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Buffer.alloc(65_536)),
    cancel: ended.resolve,
  })
  const server = createServer((incoming, outgoing) => {
    const pace = createReaderPace({
      onStalled: () => outgoing.destroy(),
      times: { behindAfterMs: 50, stalledMaxMs: 200 },
    })
    const respond = getRequestListener(() => new Response(pace.follow(endless)))
    respond(incoming, outgoing).catch(ended.reject)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const socket = connect(address.port, '127.0.0.1').pause()
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  socket.write(head('GET / HTTP/1.1'))
  await ended.promise
})

test('who stops reading ends the body', async () => {
  const cancelled = Promise.withResolvers<unknown>()
  const body = new ReadableStream<Uint8Array>({ cancel: cancelled.resolve })
  await createReaderPace({ onStalled: never }).follow(body).cancel('gone')
  assert.equal(await cancelled.promise, 'gone')
})
