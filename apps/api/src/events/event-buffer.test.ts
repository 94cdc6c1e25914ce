import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEventBuffer } from './event-buffer.ts'

function open(waitingMaxBytes = 10) {
  let nowMs = 0
  let closedCount = 0
  const buffer = createEventBuffer({
    waitingMaxBytes,
    onClosed: () => void (closedCount += 1),
    now: () => nowMs,
  })
  return { buffer, closedCount: () => closedCount, passTime: (ms: number) => void (nowMs += ms) }
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const bytes of body) text += Buffer.from(bytes).toString()
  return text
}

test('what is added arrives in order, and the end comes after it', async () => {
  const { buffer, closedCount } = open()
  buffer.add('a'.repeat(100))
  assert.equal(buffer.offer('b'), false)
  buffer.add('c')
  buffer.end()
  buffer.add('too late')
  assert.equal(closedCount(), 0)
  assert.equal(await textOf(buffer.body), `${'a'.repeat(100)}c`)
  assert.equal(closedCount(), 1)
})

test('a reader that waits is woken, by words and by the end', async () => {
  const { buffer } = open()
  const reading = textOf(buffer.body)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(buffer.offer('x'), true)
  await new Promise((resolve) => setImmediate(resolve))
  buffer.end()
  assert.equal(await reading, 'x')
})

test('what a slow reader leaves behind does not grow, and is measured in time', async () => {
  const { buffer, passTime } = open(1_000)
  passTime(5_000)
  assert.equal(buffer.stalledMs(), 0)
  let taken = 0
  for (let index = 0; index < 100_000; index += 1) if (buffer.offer('y'.repeat(10))) taken += 1
  assert.equal(taken, 100)
  passTime(3_000)
  assert.equal(buffer.stalledMs(), 3_000)
  const reader = buffer.body.getReader()
  await reader.read()
  assert.equal(buffer.stalledMs(), 0)
  assert.equal(buffer.offer('y'.repeat(10)), true)
  await reader.cancel()
})

test('a reader that goes ends it once, and nothing is kept for it', async () => {
  const { buffer, closedCount } = open()
  const reader = buffer.body.getReader()
  const reading = reader.read()
  await reader.cancel()
  buffer.close()
  buffer.add('x')
  assert.equal((await reading).done, true)
  assert.equal(closedCount(), 1)
  assert.equal(buffer.isEmpty(), true)
})
