import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect, isIP } from 'node:net'
import type { SecureContext } from 'node:tls'
import { connect as connectSecurely } from 'node:tls'
import type { Target } from './check-url.ts'
import { failureWords } from './failure-words.ts'

export type Dialled =
  | { kind: 'connected'; socket: Socket }
  | { kind: 'unreachable'; reason: 'connect' | 'tls'; detail: string }

export type Line = { secureContext: SecureContext; signal: AbortSignal; deadlineAt: number }

// One answer of a name server must not make us knock at hundreds of doors.
const addressesMax = 4

/**
 * Connects to one of the addresses: the next only where not even a connection came about. Each gets an equal share of
 * the time that is left, so that one which swallows packets leaves some to the others. IPv4 first, because a host
 * without any IPv6 is common and one without IPv4 is not. Rejects with the signal's reason.
 */
export async function dial(target: Target, addresses: readonly string[], line: Line): Promise<Dialled> {
  const order = addresses.toSorted((a, b) => isIP(a) - isIP(b)).slice(0, addressesMax)
  let last: Dialled = { kind: 'unreachable', reason: 'connect', detail: 'there is no address to dial' }
  for (const [index, address] of order.entries()) {
    const patienceMs = (line.deadlineAt - performance.now()) / (order.length - index)
    last = await dialAddress(target, address, { ...line, patienceMs })
    if (last.kind === 'connected' || last.reason === 'tls') return last
  }
  return last
}

async function dialAddress(
  target: Target,
  address: string,
  { secureContext, signal, patienceMs }: Line & { patienceMs: number },
): Promise<Dialled> {
  const socket = openSocket(target, address, secureContext)
  // Until somebody listens, and after the last who did.
  socket.on('error', () => {})
  const impatience = setTimeout(() => socket.destroy(new Impatience()), patienceMs)
  let isConnected = false
  socket.once('connect', () => {
    isConnected = true
    clearTimeout(impatience)
  })
  try {
    await once(socket, target.isSecure ? 'secureConnect' : 'connect', { signal })
    return { kind: 'connected', socket }
  } catch (error) {
    socket.destroy()
    signal.throwIfAborted()
    return { kind: 'unreachable', reason: isConnected ? 'tls' : 'connect', detail: failureWords(error) }
  } finally {
    clearTimeout(impatience)
  }
}

/** For an address Node looks up nothing; should it ever want to, it gets nothing. */
function openSocket({ isSecure, host, port }: Target, address: string, secureContext: SecureContext): Socket {
  const options = {
    host: address,
    port,
    family: isIP(address),
    autoSelectFamily: false,
    noDelay: true,
    lookup: (_name: string, _options: object, answer: (error: Error, address: string) => void) =>
      answer(new Error('the address to dial is no address'), ''),
  }
  if (!isSecure) return connect(options)
  return connectSecurely({
    ...options,
    secureContext,
    // An address cannot be a server name; the certificate is then held against `host`.
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    // Said, because the environment could switch it off.
    rejectUnauthorized: true,
  })
}

class Impatience extends Error {
  readonly code = 'ETIMEDOUT'
}
