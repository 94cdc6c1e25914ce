import type { AccessKey } from '@toolyard/access/access-key'
import type { Invocation } from '@toolyard/invocations/invocation'
import { isFinal } from '@toolyard/contract/invocations'
import type { StatusEvent } from '@toolyard/invocations/status-events'
import { eventsSince, stepOf } from '@toolyard/invocations/status-events'
import type { StatusFeed } from '@toolyard/invocations/status-feed'
import type { HeardStderr, StderrFeed } from '@toolyard/invocations/stderr-feed'
import { createEventBuffer } from './event-buffer.ts'
import { heartbeatFrame, toFrame } from './event-frame.ts'
import { createStreamSlots } from './stream-slots.ts'

export type InvocationEvents = {
  /** The body of an answer that follows this invocation until it is final. Throws `rate_limited`. */
  open: (request: EventsRequest) => ReadableStream<Uint8Array>
  count: () => number
  /** Ends all, and those that are opened from now on after their first event: their clients come back elsewhere. */
  close: () => void
}

export type EventsRequest = {
  key: AccessKey
  /** As it stands now. */
  one: Invocation
  lastEventId: string | undefined
  /** Throws when the key does not work any more. */
  checkKey: () => Promise<unknown>
  /** The answer that the body is for. Whatever ends it ends this too, read or not: the body of a HEAD is not. */
  outgoing: {
    readonly destroyed: boolean
    destroy: () => unknown
    once: (event: 'close', listener: () => void) => unknown
  }
}

export type InvocationEventsOptions = {
  statusFeed: Pick<StatusFeed, 'watch'>
  stderrFeed: Pick<StderrFeed, 'watch'>
  limits?: { perProcess: number; perKey: number }
  times?: typeof defaultTimes
}

const defaultLimits = { perProcess: 1_000, perKey: 100 }

// A revoked key works nowhere after 2 s, and the epoch that tells of it is a second old at most.
const defaultTimes = { heartbeatMs: 15_000, checkKeyMs: 500, stalledMaxMs: 120_000 }

const checkAnswerMs = 1_500
const retryMs = 2_000
// Of stderr, for a reader that is behind: four seconds of it at full rate.
const waitingMaxBytes = 163_840

export function createInvocationEvents(options: InvocationEventsOptions): InvocationEvents {
  const slots = createStreamSlots({
    ...(options.limits ?? defaultLimits),
    what: 'invocations that are followed',
  })
  const endings = new Set<() => void>()
  let isClosing = false
  return {
    open(request) {
      const release = slots.take(request.key.id)
      try {
        const { body, end, close } = follow(options, request, () => {
          endings.delete(end)
          release()
        })
        endings.add(end)
        if (request.outgoing.destroyed) close()
        else if (isClosing) end()
        return body
      } catch (error) {
        release()
        throw error
      }
    },
    count: slots.count,
    close() {
      isClosing = true
      for (const end of endings) end()
    },
  }
}

function follow(
  { statusFeed, stderrFeed, times = defaultTimes }: InvocationEventsOptions,
  { key, one, lastEventId, checkKey, outgoing }: EventsRequest,
  onClosed: () => void,
) {
  const stops: (() => void)[] = []
  // First, because it may be refused.
  if (!isFinal(one.status))
    stops.push(statusFeed.watch(one.id, (now) => (now === undefined ? end() : tell(now))))
  const buffer = createEventBuffer({
    waitingMaxBytes,
    onClosed() {
      stop()
      stopWaiting()
      onClosed()
    },
  })
  // Also after the end, which has to be read.
  const stopWaiting = every(times.heartbeatMs, () => {
    if (buffer.stalledMs() > times.stalledMaxMs) outgoing.destroy()
  })
  const stderr = createStderrPart(buffer)
  let lastId = lastEventId
  let toldStep: number | undefined
  let isFirst = true

  function tell(now: Invocation): void {
    // Read for somebody else, before this one was opened.
    if (toldStep !== undefined && stepOf(now) < toldStep) return
    for (const event of eventsSince(lastId, now)) {
      if (isFinal(event.status)) stderr.end()
      buffer.add(statusFrame(now.id, event, isFirst))
      isFirst = false
      lastId = event.eventId
    }
    toldStep = stepOf(now)
    if (isFinal(now.status)) end()
  }

  function stop(): void {
    for (const each of stops.splice(0)) each()
  }

  function end(): void {
    stop()
    buffer.end()
  }

  outgoing.once('close', buffer.close)
  const followed = { body: buffer.body, end, close: buffer.close }
  tell(one)
  if (isFinal(one.status)) return followed
  if (key.scopes.includes('invocations:raw'))
    stops.push(stderrFeed.watch(one.id, (heard) => stderr.hear(heard)))
  stops.push(every(times.heartbeatMs, () => void (buffer.isEmpty() && buffer.add(heartbeatFrame))))
  stops.push(every(times.checkKeyMs, createKeyCheck(checkKey, end)))
  return followed
}

function statusFrame(id: string, event: StatusEvent, isFirst: boolean): string {
  const { eventId, status, attempts, waitingFor, cancelRequested } = event
  const data = {
    id,
    status,
    attempts,
    ...(waitingFor === null ? {} : { waiting_for: waitingFor }),
    ...(cancelRequested ? { cancel_requested: true } : {}),
  }
  return toFrame({ event: 'status', id: eventId, data, ...(isFirst ? { retryMs } : {}) })
}

function createStderrPart(buffer: Pick<ReturnType<typeof createEventBuffer>, 'add' | 'offer'>) {
  let attempt = 0
  let hasGap = false
  const toStderrFrame = (text: string) =>
    toFrame({ event: 'stderr', data: { attempt, text, ...(hasGap ? { gap: true } : {}) } })
  return {
    hear(heard: HeardStderr): void {
      attempt = heard.attempt
      hasGap ||= heard.isGap
      const isTaken = buffer.offer(toStderrFrame(heard.text))
      hasGap = !isTaken
    },
    /** What is missing at the end is told too. */
    end(): void {
      if (hasGap) buffer.add(toStderrFrame(''))
      hasGap = false
    },
  }
}

/** I9: what is sent rests on a yes that is not old. Without an answer there is none. */
function createKeyCheck(checkKey: () => Promise<unknown>, end: () => void): () => void {
  let askedAtMs: number | undefined
  return () => {
    if (askedAtMs !== undefined) {
      if (performance.now() - askedAtMs > checkAnswerMs) end()
      return
    }
    askedAtMs = performance.now()
    checkKey().then(() => (askedAtMs = undefined), end)
  }
}

function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms)
  return () => clearInterval(timer)
}
