import { setTimeout as delay } from 'node:timers/promises'
import { isFinal } from './check-callers.ts'
import type { CallHistory, Told } from './history.ts'
import type { PlannedCall } from './plan-run.ts'

export type Callers = {
  urls: readonly string[]
  token: string
  /** Ends whatever callers still wait for. */
  signal: AbortSignal
}

const requestMs = 20_000
const patienceMs = 120_000
const pauseMs = 250
const longPollSeconds = 10

export type Calling = {
  /** Every request has its answer, or is given up. */
  submitted: Promise<unknown>
  /** Callers who follow theirs have heard of the end. */
  done: Promise<CallHistory[]>
}

/** Makes every call at its time, as callers do: who has a key asks until there is an answer. */
export function makeCalls(callers: Callers, calls: readonly PlannedCall[]): Calling {
  const made = calls.map((plan) => {
    const history: CallHistory = {
      plan,
      accepted: [],
      unanswered: 0,
      refused: [],
      seen: [],
      cancelled: undefined,
    }
    const submitted = submitAll(callers, history)
    return { submitted, done: submitted.then(() => attend(callers, history)) }
  })
  return {
    submitted: Promise.all(made.map(({ submitted }) => submitted)),
    done: Promise.all(made.map(({ done }) => done)),
  }
}

async function submitAll(callers: Callers, history: CallHistory): Promise<void> {
  const { atMs, repeats } = history.plan
  await delay(atMs, undefined, { signal: callers.signal }).catch(() => {})
  // All at once: who repeats a request does so because the first seems lost.
  await Promise.all(Array.from({ length: 1 + (repeats ?? 0) }, () => submit(callers, history)))
}

async function attend(callers: Callers, history: CallHistory): Promise<CallHistory> {
  const [first] = history.accepted
  if (first !== undefined)
    await Promise.all([cancel(callers, history, first.id), follow(callers, history, first)])
  return history
}

async function submit(callers: Callers, history: CallHistory): Promise<void> {
  const { index, tool, topic, params, priority, delayMs, repeats, waitSeconds } = history.plan
  const body = { params, topic, priority, ...(delayMs > 0 ? { delay_ms: delayMs } : {}) }
  const headers = {
    ...(repeats === null ? {} : { 'idempotency-key': `${topic}-${index}` }),
    ...(waitSeconds === 0 ? {} : { prefer: `wait=${waitSeconds}` }),
  }
  const request = { method: 'POST', path: `/tools/${tool}/invoke`, headers, body: JSON.stringify(body) }
  const deadline = performance.now() + patienceMs
  for (let turn = index; performance.now() < deadline && !callers.signal.aborted; turn++) {
    const answer = await ask(callers, turn, request)
    if (answer.kind === 'answered' && answer.told !== undefined)
      return void history.accepted.push(answer.told)
    if (answer.kind === 'answered' && answer.status < 500 && answer.status !== 429)
      return void history.refused.push(`${answer.status} ${answer.text.slice(0, 300)}`)
    // A refusal says that it was not accepted; silence says nothing.
    if (answer.kind === 'silent') history.unanswered += 1
    if (answer.kind === 'silent' && repeats === null) return
    await delay(pauseMs)
  }
}

async function cancel(callers: Callers, history: CallHistory, id: string): Promise<void> {
  const { index, cancelAfterMs } = history.plan
  if (cancelAfterMs === undefined) return
  await delay(cancelAfterMs)
  const deadline = performance.now() + patienceMs
  for (let turn = index; performance.now() < deadline && !callers.signal.aborted; turn++) {
    // Another process than the one that accepted it.
    const answer = await ask(callers, turn + 1, { method: 'POST', path: `/invocations/${id}/cancel` })
    if (answer.kind === 'answered' && answer.status < 500 && answer.status !== 429) {
      history.cancelled = answer.status
      if (answer.told !== undefined) history.seen.push(answer.told)
      return
    }
    await delay(pauseMs)
  }
}

async function follow(callers: Callers, history: CallHistory, first: Told): Promise<void> {
  if (!history.plan.follows) return
  const path = `/invocations/${first.id}?wait=${longPollSeconds}`
  for (let turn = history.plan.index; !callers.signal.aborted; turn++) {
    const answer = await ask(callers, turn, { method: 'GET', path })
    if (answer.kind === 'answered' && answer.told !== undefined) {
      history.seen.push(answer.told)
      if (isFinal(answer.told.status)) return
    }
    await delay(pauseMs)
  }
}

type Request = { method: string; path: string; headers?: Record<string, string>; body?: string }
type Answer =
  | { kind: 'answered'; status: number; text: string; told: Told | undefined }
  /** The connection broke, or there was no answer in time. */
  | { kind: 'silent' }

async function ask({ urls, token }: Callers, turn: number, request: Request): Promise<Answer> {
  const { method, path, headers, body } = request
  try {
    const response = await fetch(`${urls[turn % urls.length]}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(requestMs),
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    return { kind: 'answered', status: response.status, text, told: response.ok ? readTold(text) : undefined }
  } catch {
    // safe to ignore because that there was no answer is what the history says of it
    return { kind: 'silent' }
  }
}

function readTold(text: string): Told | undefined {
  const shape: unknown = JSON.parse(text)
  if (typeof shape !== 'object' || shape === null || !('id' in shape) || !('status' in shape))
    return undefined
  return { id: String(shape.id), status: String(shape.status) }
}
