import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { openProxy } from './open-proxy.ts'
import { waitUntil } from './wait-until.ts'

const mebibyte = 1_048_576

/** A server that answers when it has heard everything: with as many bytes as it was told. */
async function answerAtEnd(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'toolyard-proxy-'))
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const heard: Buffer[] = []
    socket.on('error', () => {})
    socket.on('data', (chunk) => heard.push(chunk))
    socket.on('end', () => socket.end(Buffer.alloc(Number(String(Buffer.concat(heard))), 'x')))
  })
  server.listen(join(folder, 'server.sock'))
  await once(server, 'listening')
  t.after(async () => {
    server.close()
    await rm(folder, { recursive: true })
  })
  return `unix://${join(folder, 'server.sock')}`
}

function connectTo(t: TestContext, url: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  return socket
}

const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))

const countBytes = async (socket: Socket) => Buffer.concat(await socket.toArray()).length

test('a client that has said everything still gets the whole answer, through an address of TCP', async (t) => {
  const proxy = await openProxy(await answerAtEnd(t))
  t.after(() => proxy.close())
  assert.match(proxy.url, /^tcp:\/\/127\.0\.0\.1:\d+$/)
  const socket = connectTo(t, proxy.url)
  socket.end(String(8 * mebibyte))
  assert.equal(await countBytes(socket), 8 * mebibyte)
})

test('nothing passes a stalled proxy, and all of it passes a mended one', async (t) => {
  const server = await answerAtEnd(t)
  const [proxy, other] = [await openProxy(server), await openProxy(server)]
  t.after(() => Promise.all([proxy.close(), other.close()]))
  proxy.stall()
  const socket = connectTo(t, proxy.url)
  socket.end(String(4 * mebibyte))
  await once(socket, 'connect')
  const answer = countBytes(socket)
  const quick = connectTo(t, other.url)
  quick.end(String(4 * mebibyte))
  assert.equal(await countBytes(quick), 4 * mebibyte)
  assert.equal(socket.bytesRead, 0)
  proxy.mend()
  await waitUntil('the answer begins', async () => socket.bytesRead > 0)
  proxy.stall()
  proxy.mend()
  assert.equal(await answer, 4 * mebibyte)
})

test('a cut resets what is open and what comes, until it is mended', async (t) => {
  const proxy = await openProxy(await answerAtEnd(t))
  t.after(() => proxy.close())
  const open = connectTo(t, proxy.url)
  await once(open, 'connect')
  open.write('1')
  const lost = closed(open)
  proxy.cut()
  await lost
  const refused = connectTo(t, proxy.url)
  await closed(refused)
  assert.equal(refused.bytesRead, 0)
  proxy.mend()
  const next = connectTo(t, proxy.url)
  next.end('3')
  assert.equal(await countBytes(next), 3)
})

test('a connection whose server has said its last word is cut like any other', async (t) => {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.end('bye')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const proxy = await openProxy(`tcp://127.0.0.1:${address.port}`)
  const socket = connectTo(t, proxy.url)
  const [heard] = await once(socket, 'data')
  assert.equal(String(heard), 'bye')
  await once(socket, 'end')
  await proxy.close()
  await waitUntil('the client to notice', () => {
    if (!socket.destroyed) socket.write('still there?')
    return socket.destroyed
  })
})
