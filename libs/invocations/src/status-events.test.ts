import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InvocationStatus } from '@toolyard/contract/invocations'
import type { Invocation } from './invocation.ts'
import { finalStatuses } from '@toolyard/contract/invocations'
import { eventsSince, stepOf } from './status-events.ts'

type Present = Pick<Invocation, 'status' | 'attempts' | 'waitingFor' | 'cancelRequested'>

const at = (status: InvocationStatus, attempts: number, more: Partial<Present> = {}): Present => ({
  status,
  attempts,
  waitingFor: null,
  cancelRequested: false,
  ...more,
})

// A life with a retry, an attempt that was lost, and a cancel at the end.
const life = [
  at('queued', 0),
  at('running', 1),
  at('queued', 1),
  at('running', 2),
  at('queued', 2),
  at('running', 3),
  at('running', 3, { cancelRequested: true }),
  at('cancelled', 3, { cancelRequested: true }),
]

const words = (events: ReturnType<typeof eventsSince>) =>
  events.map(({ status, attempts, cancelRequested }) => `${status} ${attempts}${cancelRequested ? ' !' : ''}`)

test('every place in a life has a number of its own, and they rise', () => {
  const steps = life.map(stepOf)
  assert.deepEqual(
    steps,
    steps.toSorted((a, b) => a - b),
  )
  assert.equal(new Set(steps).size, life.length)
  for (const status of finalStatuses) assert.ok(stepOf(at(status, 2)) > stepOf(at('queued', 2)))
})

test('who follows without a break is told each state once', () => {
  let last: string | undefined
  const told: string[] = []
  for (const present of [...life, ...life.slice(-1)]) {
    const events = eventsSince(last, present)
    told.push(...words(events))
    last = events.at(-1)?.eventId ?? last
  }
  assert.deepEqual(told, [
    'queued 0',
    'running 1',
    'queued 1',
    'running 2',
    'queued 2',
    'running 3',
    'running 3 !',
    'cancelled 3 !',
  ])
})

test('who comes back at any time gets what it missed in order, and nothing again', () => {
  for (const [from, before] of life.entries()) {
    const last = eventsSince(undefined, before)[0]?.eventId
    for (const present of life.slice(from)) {
      const events = eventsSince(last, present)
      const steps = events.map(({ eventId }) => Number(eventId))
      assert.deepEqual(
        steps,
        steps.toSorted((a, b) => a - b),
      )
      assert.ok(steps.every((step) => step > stepOf(before)))
      if (stepOf(present) > stepOf(before)) assert.equal(steps.at(-1), stepOf(present))
      else assert.deepEqual(events, [])
    }
  }
  assert.deepEqual(words(eventsSince('0', at('succeeded', 3))), [
    'running 1',
    'queued 1',
    'running 2',
    'queued 2',
    'running 3',
    'succeeded 3',
  ])
})

test('what is not known to have been is not told', () => {
  // Cancelled or expired while it waited, or while it ran: the row does not say.
  assert.deepEqual(words(eventsSince('2', at('expired', 1))), ['expired 1'])
  assert.deepEqual(words(eventsSince('0', at('cancelled', 0))), ['cancelled 0'])
})

test('what a row waits for is an event when it changes', () => {
  const held = at('queued', 0, { waitingFor: 'concurrency limit' })
  const [event] = eventsSince('0', held)
  assert.equal(event?.eventId, '0-concurrency_limit')
  assert.deepEqual(eventsSince('0-concurrency_limit', held), [])
  assert.equal(eventsSince('0-concurrency_limit', at('queued', 0))[0]?.eventId, '0')
})

test('an id that this row never had is no id', () => {
  for (const id of ['', 'x', '-1', '9999999', '2 ', '2-A', '17', '1e3', '2-' + 'a'.repeat(50)])
    assert.deepEqual(words(eventsSince(id, at('running', 1))), ['running 1'], id)
})
