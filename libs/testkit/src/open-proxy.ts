import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect, createServer } from 'node:net'

export type Proxy = {
  /** `url` as given, but through the proxy. */
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

/** A TCP proxy before the server that `url` names, to take a network away from under a client. */
export async function openProxy(url: string): Promise<Proxy> {
  const target = new URL(url)
  const pairs = new Set<Pair>()
  let state: 'passing' | 'stalled' | 'cut' = 'passing'

  const server = createServer((near) => {
    if (state === 'cut') {
      near.on('error', ignore)
      near.resetAndDestroy()
      return
    }
    const far = connect({ host: target.hostname, port: Number(target.port || defaultPort(target)) })
    const pair = { near, far }
    pairs.add(pair)
    forward(near, far, () => pairs.delete(pair))
    forward(far, near, () => pairs.delete(pair))
    if (state === 'stalled') pause(pair)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const cut = () => {
    state = 'cut'
    for (const pair of pairs) {
      pair.near.resetAndDestroy()
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

function forward(from: Socket, to: Socket, onClose: () => void): void {
  from.setNoDelay(true)
  from.on('data', (chunk) => to.write(chunk))
  from.on('error', ignore)
  from.on('close', () => {
    onClose()
    to.destroy()
  })
}

function pause({ near, far }: Pair): void {
  near.pause()
  far.pause()
}

// A reset is what this proxy is for; the client under test sees it too.
function ignore(): void {}

function through(target: URL, address: ReturnType<ReturnType<typeof createServer>['address']>): string {
  if (address === null || typeof address === 'string') throw new Error('the proxy listens on no port')
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(address.port)
  return url.href
}

function defaultPort(target: URL): number {
  return target.protocol.startsWith('postgres') ? 5432 : 6379
}
