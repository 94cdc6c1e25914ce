import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

export type ListenOptions = {
  url: string
  applicationName: string
  /** What to do with a message, by the name of its channel. */
  channels: Readonly<Record<string, (payload: string) => void>>
  /** Called whenever it hears from now on, the first time too: what was said before may have been missed. */
  onListening: () => void
  /** Told of each connection that broke or could not be had; it goes on trying. */
  onError: (error: unknown) => void
  /** How often a silent connection is asked whether it still lives, and how long it has for the answer. */
  checkEveryMs?: number
  answerTimeoutMs?: number
}

export type Listener = {
  isListening: () => boolean
  close: () => Promise<void>
}

const checkEveryDefaultMs = 5_000
const answerTimeoutDefaultMs = 5_000
const pauseFirstMs = 100
const pauseMaxMs = 5_000
const goodbyeMs = 1_000

/**
 * LISTEN on a connection of its own, for as long as the process wants. Messages are hints: Postgres keeps none for
 * who is away, so whoever relies on them looks again in `onListening` and now and then besides.
 */
export function listen(options: ListenOptions): Listener {
  const closing = new AbortController()
  let isListening = false
  let failures = 0

  async function session(): Promise<void> {
    const connection = openConnection(options)
    try {
      await connection.start(Object.keys(options.channels))
      isListening = true
      failures = 0
      options.onListening()
      await connection.watch(options.checkEveryMs ?? checkEveryDefaultMs, closing.signal)
    } finally {
      isListening = false
      await connection.close()
    }
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await session()
      } catch (error) {
        if (closing.signal.aborted) return
        options.onError(error)
        const pauseMs = Math.min(pauseFirstMs * 2 ** failures, pauseMaxMs)
        failures += 1
        await delay(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
      }
    }
  }

  const running = run()
  return {
    isListening: () => isListening,
    async close() {
      closing.abort()
      await running
    },
  }
}

function openConnection(options: ListenOptions) {
  const client = new pg.Client({
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.answerTimeoutMs ?? answerTimeoutDefaultMs,
    query_timeout: options.answerTimeoutMs ?? answerTimeoutDefaultMs,
    keepAlive: true,
  })
  const broken = Promise.withResolvers<never>()
  // Also heard while nobody waits for it: a break between two checks must not end the process.
  broken.promise.catch(() => {})
  client.on('error', broken.reject)
  client.on('end', () => broken.reject(new Error('the listening connection has ended')))
  client.on('notification', ({ channel, payload }) => options.channels[channel]?.(payload ?? ''))

  return {
    async start(channels: readonly string[]): Promise<void> {
      await client.connect()
      for (const channel of channels) await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    },
    /** Returns when the signal is aborted, throws when the connection is no more. */
    async watch(everyMs: number, signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        const pause = delay(everyMs, undefined, { signal }).catch(() => {})
        await Promise.race([broken.promise, pause])
        // A network that is gone breaks nothing by itself.
        if (!signal.aborted) await client.query('select 1')
      }
    },
    async close(): Promise<void> {
      const ended = client.end().catch(() => {})
      await Promise.race([ended, delay(goodbyeMs, undefined, { ref: false })])
      // To a peer that does not answer there is no goodbye.
      client.connection.stream.destroy()
    },
  }
}
