import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

// Below the range from which outgoing connections get theirs: one of those could take the port before its server does.
const lowest = 20_000
const highest = 32_000
const triesMax = 1_000

/** A port of this machine on which nobody listens. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMax; tries++) {
    const port = randomInt(lowest, highest)
    if (await canListen(port)) return port
  }
  throw new Error(`no free port of 127.0.0.1 was found between ${lowest} and ${highest}`)
}

async function canListen(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen({ host: '127.0.0.1', port, exclusive: true })
    await once(server, 'listening')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false
    throw error
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
}
