import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import { Failure, codeOf, messageOf } from '../../services/terminal/failure.ts'
import type { Message } from './judge-message.ts'

// For this machine alone. Whoever can reach it may be anybody all the same: everything that comes has a limit.

export type Refused = {
  /** Null: there was nobody left to answer. */
  status: number | null
  detail: string
}

export type Reception = {
  /** Answers with a status. */
  receive: (message: Message) => Promise<number>
  /** Of what is no message. */
  onRefused: (refused: Refused) => void
}

export type Receiver = { port: number; close(): Promise<void> }

const host = '127.0.0.1'
// Ours have less than 20 kB.
const bodyBytesMax = 65_536
// Taken and thrown away, so that whoever sends too much is still there for the answer.
const discardedBytesMax = 1_048_576
const connectionsMax = 64

const limits = {
  maxHeaderSize: 16_384,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 2_000,
  connectionsCheckingInterval: 1_000,
}

/** On the port that is told, or on a free one. */
export async function startReceiver(port: number | undefined, reception: Reception): Promise<Receiver> {
  const reading = new WeakSet<Duplex>()
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    reading.add(request.socket)
    const read = await readBody(request)
    reading.delete(request.socket)
    await answer(request, response, { ...reception, read })
  }
  const server = createServer(limits, (request, response) => void take(request, response))
  server.maxConnections = connectionsMax
  server.on('clientError', (error, socket) => {
    // Told by the end of what is read from it.
    if (reading.has(socket)) socket.destroy()
    else refuseClient(error, socket, reception)
  })
  server.listen(port ?? 0, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw explainListening(error, port)
  }
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on no port')
  return {
    port: address.port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { read, receive, onRefused }: Reception & { read: Read },
): Promise<void> {
  const refuse = (status: number, detail: string, headers = {}) => {
    onRefused({ status, detail })
    response.writeHead(status, { connection: 'close', ...headers }).end()
  }
  if (read === 'cut_off') return onRefused({ status: null, detail: 'its body did not come whole' })
  if (read === 'too_large') return refuse(413, `its body has more than ${bodyBytesMax} bytes`)
  if (request.method !== 'POST')
    return refuse(405, `it is a ${request.method}, and webhooks are POST`, { allow: 'POST' })
  const status = await receive({ headers: readerOf(request), body: read })
  response.writeHead(status).end()
}

type Read = Buffer | 'too_large' | 'cut_off'

/** As it came. */
function readBody(request: IncomingMessage): Promise<Read> {
  const { promise, resolve } = Promise.withResolvers<Read>()
  const chunks: Buffer[] = []
  let byteCount = 0
  request.on('data', (chunk: Buffer) => {
    byteCount += chunk.length
    if (byteCount <= bodyBytesMax) chunks.push(chunk)
    else if (byteCount > discardedBytesMax) resolve('too_large')
  })
  request.on('end', () => resolve(byteCount > bodyBytesMax ? 'too_large' : Buffer.concat(chunks)))
  // It is followed by its close.
  request.on('error', () => {})
  request.on('close', () => resolve('cut_off'))
  return promise
}

// Those that came twice are one text by then, with commas between.
const readerOf = ({ headers }: IncomingMessage) => ({
  get: (name: string) => {
    const value = headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  },
})

const statusOf: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

function refuseClient(error: Error, socket: Duplex, reception: Reception): void {
  const code = codeOf(error) ?? 'unknown'
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = statusOf[code] ?? 400
  reception.onRefused({ status, detail: `it is no HTTP request (${code})` })
  socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
}

function explainListening(error: unknown, port: number | undefined): Error {
  const reason = codeOf(error) === 'EADDRINUSE' ? 'is taken' : `cannot be used (${messageOf(error)})`
  return new Failure(`Port ${port ?? 0} of ${host} ${reason}: choose another one by --port, or none`)
}
