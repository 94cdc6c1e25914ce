import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'

export type Proxy = {
  /** `url` as given, but through the proxy; for the path of a socket, an address of TCP. */
  url: string
  /** From now on nothing passes in either direction; connections stay open, new ones are accepted in silence. */
  stall(): void
  /** From now on every connection, present or new, is reset. */
  cut(): void
  /** Undoes `stall` and `cut`; what was held back is delivered. */
  mend(): void
  close(): Promise<void>
}

type Pair = { near: Socket; far: Socket }

/** A proxy before the server that `url` names, to take the network, or the server, away from under a client. */
export async function openProxy(url: string): Promise<Proxy> {
  const target = new URL(url)
  const pairs = new Set<Pair>()
  let state: 'passing' | 'stalled' | 'cut' = 'passing'

  // Whoever has said all that it has to say still waits for the answer.
  const server = createServer({ allowHalfOpen: true }, (near) => {
    if (state === 'cut') {
      near.on('error', ignore)
      near.resetAndDestroy()
      return
    }
    const far = connect({ ...placeOf(target), allowHalfOpen: true })
    const pair = { near, far }
    pairs.add(pair)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      forward(from, to, () => state === 'passing')
      from.on('close', () => pairs.delete(pair))
    }
    if (state === 'stalled') pause(pair)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const cut = () => {
    state = 'cut'
    for (const pair of pairs) {
      // A side that has said its last word cannot be reset: Node then never closes it, and its process never ends.
      if (pair.near.writableEnded) pair.near.destroy()
      else pair.near.resetAndDestroy()
      pair.far.destroy()
    }
  }
  return {
    url: through(target, server.address()),
    cut,
    stall() {
      state = 'stalled'
      for (const pair of pairs) pause(pair)
    },
    mend() {
      state = 'passing'
      for (const { near, far } of pairs) {
        near.resume()
        far.resume()
      }
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

function forward(from: Socket, to: Socket, passes: () => boolean): void {
  from.setNoDelay(true)
  from.on('data', (chunk) => {
    if (to.write(chunk)) return
    from.pause()
    to.once('drain', () => {
      if (passes()) from.resume()
    })
  })
  from.on('end', () => to.end())
  from.on('error', ignore)
  from.on('close', (hadError) => {
    // Else both directions have ended, and what is still on its way to the other side arrives.
    if (hadError || !from.readableEnded) to.destroy()
  })
}

function pause({ near, far }: Pair): void {
  near.pause()
  far.pause()
}

// A reset is what this proxy is for; the client under test sees it too.
function ignore(): void {}

function placeOf(target: URL) {
  if (target.protocol === 'unix:') return { path: target.pathname }
  return { host: target.hostname, port: Number(target.port || defaultPorts[target.protocol]) }
}

const defaultPorts: Readonly<Record<string, number>> = {
  'postgres:': 5432,
  'postgresql:': 5432,
  'redis:': 6379,
  'tcp:': 2375,
}

function through(target: URL, address: ReturnType<ReturnType<typeof createServer>['address']>): string {
  if (address === null || typeof address === 'string') throw new Error('the proxy listens on no port')
  if (target.protocol === 'unix:') return `tcp://127.0.0.1:${address.port}`
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(address.port)
  // Else a client of Postgres would pass us by.
  url.searchParams.delete('host')
  return url.href
}
