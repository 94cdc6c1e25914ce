import { getRequestListener } from '@hono/node-server'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { answerUnread } from './answer-unread.ts'
import type { Api } from './create-api.ts'
import type { Socket } from 'node:net'
import type { RefuseUnread } from './http/refuse-unread.ts'

export type ListenOptions = {
  fetch: Api['fetch']
  /** Answers what is no request that `fetch` could be asked. */
  refuseUnread: RefuseUnread
  /** Called when a connection cannot be taken, as when the process has no file descriptors left. */
  onError: (error: Error) => void
  host: string
  port: number
  arrival?: ArrivalLimits
}

/** In what time a request must arrive; how long its answer takes is another matter. */
export type ArrivalLimits = { headersMs: number; requestMs: number; checkEveryMs: number }

export type Listening = {
  url: string
  /** Takes no new connections, lets requests that are under way end, and cuts them when `signal` aborts. */
  close(signal: AbortSignal): Promise<void>
}

const arrivalDefaults: ArrivalLimits = { headersMs: 15_000, requestMs: 60_000, checkEveryMs: 5_000 }
// Longer than the 60 s after which the usual proxies drop an idle connection, so that they do it first.
const keepAliveMs = 65_000
const connectionsMax = 10_000

export async function listen(options: ListenOptions): Promise<Listening> {
  const { fetch, refuseUnread, onError, host, port, arrival = arrivalDefaults } = options
  const underWay = new Set<ServerResponse>()
  const silent = new Set<Socket>()
  let isClosing = false

  function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    underWay.add(outgoing)
    outgoing.once('close', () => underWay.delete(outgoing))
    silent.delete(incoming.socket)
    if (isClosing) outgoing.setHeader('connection', 'close')
    const respond = getRequestListener(fetch, {
      // HTTP/1.0 knows no Host, and the checks of some load balancers still speak it. Without a name for them others
      // are refused.
      ...(incoming.httpVersion === '1.0' ? { hostname: 'localhost' } : {}),
      errorHandler: (error) => {
        const { status, headers, body } = refuseUnread(error, incoming.socket.remoteAddress ?? 'unknown')
        return new Response(body, { status, headers })
      },
    })
    return respond(incoming, outgoing)
  }

  const server = createServer(
    {
      headersTimeout: arrival.headersMs,
      requestTimeout: arrival.requestMs,
      connectionsCheckingInterval: arrival.checkEveryMs,
      keepAliveTimeout: keepAliveMs,
      // `answer` refuses what has none, in the form of all other refusals.
      requireHostHeader: false,
    },
    (incoming, outgoing) => void answer(incoming, outgoing),
  )
  server.maxConnections = connectionsMax
  server.on('connection', (socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
  })
  // An expectation that we do not know is no reason to refuse, and certainly not in a form of its own.
  server.on('checkExpectation', (incoming, outgoing) => void answer(incoming, outgoing))
  server.on('clientError', (error, socket) => answerUnread({ error, socket, underWay, refuseUnread }))
  await start(server, host, port)
  server.on('error', onError)
  return {
    url: urlOf(server, host, port),
    async close(signal) {
      isClosing = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // A connection that is kept alive would be waited for until its client has enough of it, and one that is opened
      // ahead of need until it is used.
      for (const outgoing of underWay) if (!outgoing.headersSent) outgoing.setHeader('connection', 'close')
      for (const socket of silent) if (socket.bytesRead === 0) socket.destroy()
      const cut = () => server.closeAllConnections()
      signal.addEventListener('abort', cut)
      if (signal.aborted) cut()
      await closed
      signal.removeEventListener('abort', cut)
    },
  }
}

async function start(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error) => reject(explain(error, host, port))
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      resolve()
    })
  })
}

function urlOf(server: Server, host: string, port: number): string {
  const address = server.address()
  const heard = typeof address === 'object' && address !== null ? address.port : port
  return `http://${host.includes(':') ? `[${host}]` : host}:${heard}`
}

function explain(error: Error, host: string, port: number): Error {
  const mends: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} is taken: free it or set YARD_PORT`,
    EADDRNOTAVAIL: `${host} is no address of this machine: correct YARD_HOST`,
    EACCES: `port ${port} may not be used by this user: set YARD_PORT to 1024 or more`,
  }
  const mend = 'code' in error ? mends[String(error.code)] : undefined
  return mend === undefined ? error : new Error(mend, { cause: error })
}
