import { createAdaptorServer } from '@hono/node-server'
import { createServer } from 'node:http'
import type { Api } from './create-api.ts'

export type Listening = {
  url: string
  /** Takes no new connections, lets requests that are under way end, and cuts them when `signal` aborts. */
  close(signal: AbortSignal): Promise<void>
}

// A request must arrive in these times; how long its answer takes is another matter.
const limits = { headersTimeout: 15_000, requestTimeout: 60_000, keepAliveTimeout: 65_000 }

export async function listen(
  fetch: Api['fetch'],
  { host, port }: { host: string; port: number },
): Promise<Listening> {
  const server = createAdaptorServer({ fetch, createServer, serverOptions: limits })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, host, port)))
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const heard = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${heard}`,
    async close(signal) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // A connection that is kept alive would be waited for until its client has enough of it.
      if ('closeIdleConnections' in server) server.closeIdleConnections()
      const cut = () => 'closeAllConnections' in server && server.closeAllConnections()
      signal.addEventListener('abort', cut)
      if (signal.aborted) cut()
      await closed
      signal.removeEventListener('abort', cut)
    },
  }
}

function explain(error: Error, host: string, port: number): Error {
  const code = 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    return new Error(`port ${port} is taken: free it or set YARD_PORT`, { cause: error })
  }
  if (code === 'EADDRNOTAVAIL') {
    return new Error(`${host} is no address of this machine: correct YARD_HOST`, { cause: error })
  }
  if (code === 'EACCES') {
    return new Error(`port ${port} may not be used by this user: set YARD_PORT to 1024 or more`, {
      cause: error,
    })
  }
  return error
}
