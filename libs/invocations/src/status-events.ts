import type { InvocationStatus, WaitingFor } from '@toolyard/contract/invocations'
import type { Invocation } from './invocation.ts'
import { isFinal } from '@toolyard/contract/invocations'

// An invocation's life as events, worked out from its row alone: any process can go on where another one stopped. A
// row moves in one direction only: queued, running (1), queued again, running (2) … and one end. So each place on that
// way has a number, which is the event's id; a row that waits says behind it what for.
//
//   4n      queued, after n attempts
//   4n + 1  final, after n attempts
//   4n - 2  running, the n-th attempt
//   4n - 1  the same, and cancelling was asked for

export type StatusEvent = {
  eventId: string
  status: InvocationStatus
  attempts: number
  waitingFor: WaitingFor | null
  cancelRequested: boolean
}

type Present = Pick<Invocation, 'status' | 'attempts' | 'waitingFor' | 'cancelRequested'>

/**
 * What has happened since that event. Of states that passed unseen those are told that must have been. Without an
 * event, or with one that this row never had, it is the present state.
 */
export function eventsSince(lastEventId: string | undefined, one: Present): StatusEvent[] {
  const present = toEvent(one)
  const last = readStep(lastEventId)
  const now = stepOf(one)
  if (last === undefined || last > now) return [present]
  if (lastEventId === present.eventId) return []
  return [...passed(last, now), present]
}

function toEvent(one: Present): StatusEvent {
  const { status, attempts, waitingFor, cancelRequested } = one
  const step = String(stepOf(one))
  const eventId = waitingFor === null ? step : `${step}-${waitingFor.replaceAll(' ', '_')}`
  return { eventId, status, attempts, waitingFor, cancelRequested }
}

export function stepOf({ status, attempts, cancelRequested }: Present): number {
  if (isFinal(status)) return 4 * attempts + 1
  if (status === 'queued') return 4 * attempts
  return 4 * attempts - (cancelRequested ? 1 : 2)
}

function passed(last: number, now: number): StatusEvent[] {
  const events: StatusEvent[] = []
  for (let step = last + 1; step < now; step += 1) {
    const attempts = Math.ceil(step / 4)
    const status = step % 4 === 0 ? 'queued' : step % 4 === 2 ? 'running' : undefined
    if (status === undefined) continue
    // It may have ended while it ran.
    if (step === now - 1 && status === 'queued') continue
    events.push({ eventId: String(step), status, attempts, waitingFor: null, cancelRequested: false })
  }
  return events
}

function readStep(eventId: string | undefined): number | undefined {
  const [, digits] = /^(\d{1,6})(?:-[a-z_]{1,40})?$/.exec(eventId ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}
