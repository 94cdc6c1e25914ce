import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { AccessKey } from '@toolyard/access/access-key'
import { AppError } from '@toolyard/contract/errors'
import type { Scope } from '@toolyard/contract/scopes'
import type { InvocationStatus } from '@toolyard/contract/invocations'
import type { Invocation } from '@toolyard/invocations/invocation'
import type { HeardStderr } from '@toolyard/invocations/stderr-feed'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { createInvocationEvents } from './invocation-events.ts'

const keyOf = (...scopes: Scope[]): AccessKey => ({
  id: 'k1',
  name: 'test',
  scopes,
  topics: null,
  tools: null,
  createdAt: new Date(0),
  expiresAt: null,
  revokedAt: null,
})

const at = (status: InvocationStatus, attempts: number): Invocation => ({
  id: 'inv_1',
  tool: 'plain',
  toolVersion: null,
  imageHash: 'a',
  topic: 't',
  keyId: null,
  status,
  waitingFor: null,
  cancelRequested: false,
  priority: 5,
  attempts,
  createdAt: new Date(0),
  dueAt: new Date(0),
  expiresAt: new Date(0),
  startedAt: null,
  finishedAt: null,
  failure: null,
  reward: null,
  feedback: null,
  searchId: null,
  replayOf: null,
  metadata: null,
})

/** The connection of an answer, as far as it is known here. */
function newOutgoing() {
  const emitter = new EventEmitter()
  return Object.assign(emitter, {
    destroyed: false,
    destroy() {
      this.destroyed = true
      emitter.emit('close')
      return this
    },
  })
}

const slow = { heartbeatMs: 60_000, checkKeyMs: 60_000, stalledMaxMs: 60_000 }

function open(t: TestContext, times: Partial<typeof slow> = {}) {
  const statusHearers = new Set<(one: Invocation | undefined) => void>()
  const stderrHearers = new Set<(heard: HeardStderr) => void>()
  let refusal: Error | undefined
  const events = createInvocationEvents({
    statusFeed: {
      watch(_id, hear) {
        if (refusal !== undefined) throw refusal
        statusHearers.add(hear)
        return () => statusHearers.delete(hear)
      },
    },
    stderrFeed: {
      watch(_id, hear) {
        stderrHearers.add(hear)
        return () => stderrHearers.delete(hear)
      },
    },
    limits: { perProcess: 3, perKey: 2 },
    times: { ...slow, ...times },
  })
  const outgoings: ReturnType<typeof newOutgoing>[] = []
  t.after(() => outgoings.forEach((outgoing) => outgoing.destroy()))
  return {
    events,
    refuse: (error: Error) => void (refusal = error),
    hear: (one: Invocation | undefined) => statusHearers.forEach((hear) => hear(one)),
    say: (heard: HeardStderr) => stderrHearers.forEach((hear) => hear(heard)),
    listeners: () => statusHearers.size + stderrHearers.size,
    follow: (
      one: Invocation,
      checkKey: () => Promise<unknown> = async () => {},
      key = keyOf('invocations:raw'),
    ) => {
      const outgoing = newOutgoing()
      outgoings.push(outgoing)
      const body = events.open({ key, one, lastEventId: undefined, checkKey, outgoing })
      return { body, outgoing }
    },
  }
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const bytes of body) text += Buffer.from(bytes).toString()
  return text
}

const statusesIn = (text: string) =>
  [...text.matchAll(/"status":"(\w+)","attempts":(\d)/g)].map(
    ([, status = '', attempts = '']) => status + attempts,
  )

test('what was read before for somebody else is not told again, and the end frees everything', async (t) => {
  const { events, follow, hear, listeners } = open(t)
  const { body } = follow(at('running', 2))
  assert.equal(events.count(), 1)
  hear(at('queued', 0))
  hear(at('running', 2))
  hear(at('queued', 2))
  hear(at('running', 2))
  hear(at('succeeded', 3))
  assert.equal(listeners(), 0)
  assert.deepEqual(statusesIn(await textOf(body)), ['running2', 'queued2', 'running3', 'succeeded3'])
  assert.equal(events.count(), 0)
})

test('stderr that has no room is marked where it is missing, at the end too', async (t) => {
  const { follow, hear, say } = open(t)
  const { body } = follow(at('running', 1))
  const text = 'x'.repeat(4_096)
  for (let index = 0; index < 100; index += 1) say({ attempt: 1, text, isGap: false })
  hear(at('succeeded', 1))
  const read = await textOf(body)
  assert.ok(read.length < 200_000)
  assert.match(read, /data: \{"attempt":1,"text":"","gap":true\}\n\nid: 5\nevent: status\n/)
})

test('a quiet stream says that it is there, and one that nobody reads is cut', async (t) => {
  const { events, follow } = open(t, { heartbeatMs: 5, stalledMaxMs: 30 })
  const { body, outgoing } = follow(at('running', 1))
  const reader = body.getReader()
  let read = ''
  while (!read.includes(': still there\n\n'))
    read += Buffer.from((await reader.read()).value ?? []).toString()
  await waitUntil('the cut', () => outgoing.destroyed)
  assert.equal(events.count(), 0)
})

test('also one whose end nobody reads is cut', async (t) => {
  const { events, follow } = open(t, { heartbeatMs: 5, stalledMaxMs: 30 })
  const { outgoing } = follow(at('succeeded', 1))
  assert.equal(events.count(), 1)
  await waitUntil('the cut', () => outgoing.destroyed)
  assert.equal(events.count(), 0)
})

test('a key that does not work any more, or of which nobody knows, ends the stream', async (t) => {
  const { follow, listeners } = open(t, { checkKeyMs: 5 })
  const revoked = follow(at('running', 1), () => Promise.reject(new AppError('unauthenticated', 'no')))
  assert.deepEqual(statusesIn(await textOf(revoked.body)), ['running1'])
  const silent = follow(at('running', 1), () => new Promise(() => {}))
  assert.deepEqual(statusesIn(await textOf(silent.body)), ['running1'])
  assert.equal(listeners(), 0)
})

test('what cannot be followed takes no place', async (t) => {
  const { events, follow, refuse } = open(t)
  refuse(new AppError('rate_limited', 'Too many'))
  for (let index = 0; index < 5; index += 1)
    assert.throws(() => follow(at('queued', 0)), { code: 'rate_limited', message: 'Too many' })
  assert.equal(events.count(), 0)
})

test('a connection that has gone before leaves nothing', async (t) => {
  const { events, follow, listeners } = open(t)
  const { outgoing } = follow(at('queued', 0))
  outgoing.destroy()
  assert.deepEqual([events.count(), listeners()], [0, 0])
})

test('who comes while the process ends is told how it stands, and sent away', async (t) => {
  const { events, follow, listeners } = open(t)
  const before = follow(at('queued', 0))
  events.close()
  const late = follow(at('queued', 0))
  assert.equal(listeners(), 0)
  for (const { body } of [before, late]) assert.deepEqual(statusesIn(await textOf(body)), ['queued0'])
  assert.equal(events.count(), 0)
})
