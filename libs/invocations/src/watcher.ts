import type { Pool } from '@toolyard/db/pool'
import { listen } from '@toolyard/db/listen'
import { prepared } from '@toolyard/db/prepared'
import { AppError } from '@toolyard/contract/errors'
import type { AnnouncedEvent } from './announce.ts'
import { channelOf } from './announce.ts'

export type WatcherOptions = {
  pool: Pool
  /** For the one connection that listens. */
  databaseUrl: string
  applicationName: string
  onError: (error: unknown) => void
  /** What else its connection shall hear. */
  channels?: Readonly<Record<string, (payload: string) => void>>
  recheckMs?: number
}

export type Watcher = {
  /**
   * Calls `hear` for what happens to this invocation, and for what has happened before: at least once each, in the end
   * also when a message was lost. `known`: the caller has just read or written its row, so what came between that and
   * now is all that is looked for, a moment later; most calls have ended by then. Returns how to stop.
   */
  watch: (id: string, hear: (event: AnnouncedEvent) => void, row?: 'unknown' | 'known') => () => void
  /**
   * Whether it is final, waiting for that up to `timeoutMs`. An aborted signal ends the wait as time does. Its row is
   * known, as above.
   */
  waitFinal: (id: string, timeoutMs: number, signal?: AbortSignal) => Promise<boolean>
  isListening: () => boolean
  close: () => Promise<void>
}

type Hear = (event: AnnouncedEvent) => void

const events: readonly AnnouncedEvent[] = ['started', 'finished', 'cancel_requested']

const recheckDefaultMs = 5_000
const lookAtKnownMs = 100
const watchedMax = 20_000
const idsPerStatement = 1_000

// index: invocations_pkey
const look = prepared(`
  select id, status = 'running' as is_running, gate = 'closed' as is_final,
    cancel_requested_at is not null as is_cancel_requested
  from invocations where id = any($1)`)

type Row = { id: string; is_running: boolean; is_final: boolean; is_cancel_requested: boolean }

/** One per process: wakes those who wait for an invocation, by LISTEN, and by looking again every 5 s. */
export function createWatcher(options: WatcherOptions): Watcher {
  const { pool, onError } = options
  const watched = new Map<string, Set<Hear>>()
  const toLook = new Set<string>()
  const looking = new Set<Promise<void>>()
  let isPlanned = false
  let isClosed = false

  function tell(id: string, event: AnnouncedEvent): void {
    for (const hear of watched.get(id) ?? []) hear(event)
  }

  async function lookAt(ids: readonly string[]): Promise<void> {
    const { rows } = await pool.query<Row>(look([ids]))
    for (const row of rows) {
      if (row.is_running) tell(row.id, 'started')
      if (row.is_cancel_requested) tell(row.id, 'cancel_requested')
      if (row.is_final) tell(row.id, 'finished')
    }
  }

  function lookAtPlanned(): void {
    isPlanned = false
    const ids = [...toLook].filter((id) => watched.has(id))
    toLook.clear()
    for (let at = 0; at < ids.length; at += idsPerStatement) {
      const reading = lookAt(ids.slice(at, at + idsPerStatement))
        .catch(onError)
        .finally(() => looking.delete(reading))
      looking.add(reading)
    }
  }

  /** Joins those who begin to wait in one turn into one statement. */
  function plan(ids: Iterable<string>): void {
    for (const id of ids) toLook.add(id)
    if (isPlanned || isClosed || toLook.size === 0) return
    isPlanned = true
    setImmediate(lookAtPlanned)
  }

  const soon = collect(lookAtKnownMs, plan)

  function watch(id: string, hear: Hear, row: 'unknown' | 'known' = 'unknown'): () => void {
    if (watched.size >= watchedMax && !watched.has(id))
      throw new AppError('rate_limited', 'Too many calls are being waited for', { retryAfterSeconds: 5 })
    const others = watched.get(id) ?? new Set()
    watched.set(id, others.add(hear))
    // After it is registered, so that nothing can happen between the two.
    if (row === 'known') soon.add(id)
    else plan([id])
    return () => {
      others.delete(hear)
      if (others.size === 0 && watched.get(id) === others) watched.delete(id)
    }
  }

  const listener = listen({
    url: options.databaseUrl,
    applicationName: options.applicationName,
    channels: { ...options.channels, ...channelsFor(tell) },
    onListening: () => plan(watched.keys()),
    onError,
  })
  const recheck = setInterval(() => plan(watched.keys()), options.recheckMs ?? recheckDefaultMs)

  return {
    watch,
    waitFinal: (id, timeoutMs, signal) => waitFinal(watch, { id, timeoutMs, signal }),
    isListening: () => listener.isListening(),
    async close() {
      isClosed = true
      clearInterval(recheck)
      soon.close()
      await Promise.all([listener.close(), ...looking])
    },
  }
}

function channelsFor(tell: (id: string, event: AnnouncedEvent) => void) {
  const hearOf = (event: AnnouncedEvent) => (payload: string) =>
    payload.split(',').forEach((id) => tell(id, event))
  return Object.fromEntries(events.map((event) => [channelOf(event), hearOf(event)]))
}

/** Passes on together what comes within a time. */
function collect(withinMs: number, pass: (ids: readonly string[]) => void) {
  let ids: string[] = []
  let timer: NodeJS.Timeout | undefined
  const passOn = () => {
    const passed = ids
    ids = []
    timer = undefined
    pass(passed)
  }
  return {
    add(id: string): void {
      ids.push(id)
      timer ??= setTimeout(passOn, withinMs)
    },
    close: () => clearTimeout(timer),
  }
}

type Wait = { id: string; timeoutMs: number; signal: AbortSignal | undefined }

async function waitFinal(watch: Watcher['watch'], { id, timeoutMs, signal }: Wait): Promise<boolean> {
  if (signal?.aborted === true) return false
  const ended = Promise.withResolvers<boolean>()
  const onAbort = () => ended.resolve(false)
  const hear = (event: AnnouncedEvent) => {
    if (event === 'finished') ended.resolve(true)
  }
  const stop = watch(id, hear, 'known')
  const timer = setTimeout(ended.resolve, timeoutMs, false)
  signal?.addEventListener('abort', onAbort)
  try {
    return await ended.promise
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    stop()
  }
}
