import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Invocation } from '@toolyard/invocations/invocation'
import { bodyBytesMax, eventMessage, fitEventData, invocationMessage } from './message.ts'

const subject = { event: 'invocation.finished', createdAt: new Date('2026-03-01T12:00:00Z') } as const
const at = new Date('2026-03-01T11:59:59Z')

const invocation: Invocation = {
  id: 'inv_01k9x2v6p0c4e8g2j5m7q9s1v3',
  tool: 'weather',
  toolVersion: '1.0',
  imageHash: 'a'.repeat(64),
  topic: 'trip',
  keyId: 'k1',
  status: 'succeeded',
  waitingFor: null,
  cancelRequested: false,
  priority: 5,
  attempts: 1,
  createdAt: at,
  dueAt: at,
  expiresAt: at,
  startedAt: at,
  finishedAt: at,
  result: {
    text: 'sunny',
    html: '<p>html</p>',
    title: 'Weather',
    data: { secretive: 'data' },
    card: { title: 'card' },
    output: { synthesize: true, ephemeral: false },
    truncated: false,
    removed: 3,
    budget_remaining: 7,
    llm_context: '[TOOL:weather] sunny [/TOOL]',
  },
  failure: null,
  reward: 0.5,
  feedback: 1,
  searchId: 'search',
  replayOf: null,
  metadata: { mine: 1 },
}

const read = (body: Buffer) => JSON.parse(body.toString())

test('a message has the text and links; html, data, the card, rewards and feedback are asked for', () => {
  const { type, timestamp, data } = read(invocationMessage(subject, invocation))
  assert.deepEqual([type, timestamp], ['invocation.finished', '2026-03-01T12:00:00.000Z'])
  assert.deepEqual(data.result, { title: 'Weather', text: 'sunny', truncated: false })
  assert.deepEqual(Object.keys(data).toSorted(), [
    'attempts',
    'created_at',
    'duration_ms',
    'finished_at',
    'id',
    'image_hash',
    'links',
    'metadata',
    'queue_ms',
    'result',
    'started_at',
    'status',
    'tool',
    'tool_version',
    'topic',
  ])
})

test('a failure is told without its exit code and stderr', () => {
  const failure = { kind: 'exit_nonzero', class: 'internal', message: 'it broke', exit_code: 3 } as const
  const { data } = read(invocationMessage(subject, { ...invocation, result: null, failure }))
  assert.deepEqual(data.failure, { kind: 'exit_nonzero', class: 'internal', message: 'it broke' })
  assert.equal('result' in data, false)
})

const longest = {
  'four bytes a character': '😀'.repeat(3_000),
  quotes: '"'.repeat(3_000),
  'half characters, six bytes each': '\ud800'.repeat(2_000),
}
for (const [what, text] of Object.entries(longest))
  test(`a message with the longest text (${what}) and 4 kB of metadata comes whole`, () => {
    assert.ok(invocation.result)
    const result = { ...invocation.result, text, html: 'x'.repeat(100_000), data: 'x'.repeat(65_000) }
    const metadata = { a: 'x'.repeat(4_088) }
    const topic = '😀'.repeat(200)
    const body = invocationMessage(subject, { ...invocation, result, metadata, topic })
    assert.ok(body.length <= bodyBytesMax, String(body.length))
    assert.equal(read(body).data.result.text, text)
    assert.deepEqual(read(body).data.metadata, metadata)
  })

test('a message that would be too large says so, and leads to the rest', () => {
  assert.ok(invocation.result)
  const result = { ...invocation.result, text: '😀'.repeat(6_000) }
  const body = invocationMessage(subject, { ...invocation, result })
  assert.ok(body.length <= bodyBytesMax)
  const { data } = read(body)
  assert.equal(data.omitted, 'too large: follow links.self')
  assert.deepEqual([data.metadata, 'result' in data], [{}, false])
  assert.equal(data.links.self, '/invocations/inv_01k9x2v6p0c4e8g2j5m7q9s1v3')
})

test('an event without an invocation says its tool and topic, whatever its data calls so', () => {
  const facts = { tool: 'weather', topic: null, data: { tool: 'other', reason: 'x' } }
  assert.deepEqual(read(eventMessage({ ...subject, event: 'tool.image_failed' }, facts)), {
    type: 'tool.image_failed',
    timestamp: '2026-03-01T12:00:00.000Z',
    data: { tool: 'weather', topic: null, reason: 'x' },
  })
})

test('data of an event that does not fit is left out', () => {
  const fits = { log: 'x'.repeat(15_900) }
  assert.deepEqual(fitEventData(fits), fits)
  const tooMuch = fitEventData({ log: '😀'.repeat(4_100) })
  assert.deepEqual(tooMuch, { omitted: 'too large' })
  const topic = '😀'.repeat(300)
  assert.ok(eventMessage(subject, { tool: 'x'.repeat(64), topic, data: fits }).length <= bodyBytesMax)
})
