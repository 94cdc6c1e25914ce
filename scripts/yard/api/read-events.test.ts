import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerEvent } from './read-events.ts'
import { parseFrame, readEvents } from './read-events.ts'

async function read(pieces: Iterable<string | Buffer>): Promise<{ events: ServerEvent[]; heard: number }> {
  async function* body() {
    for (const piece of pieces) yield Buffer.from(piece)
  }
  const events: ServerEvent[] = []
  let heard = 0
  for await (const event of readEvents(body(), () => (heard += 1))) events.push(event)
  return { events, heard }
}

const text =
  'retry: 2000\nid: 2\nevent: status\ndata: {"a":"ü"}\n\n: still there\n\nevent: stderr\r\ndata: x\r\n\r\n'
const expected = [
  { event: 'status', data: '{"a":"ü"}', id: '2' },
  { event: 'stderr', data: 'x', id: undefined },
]

test('events are the same however they are cut, and each sign of life is heard', async () => {
  assert.deepEqual(await read([text]), { events: expected, heard: 1 })
  const bytes = [...Buffer.from(text)].map((byte) => Buffer.from([byte]))
  assert.deepEqual(await read(bytes), { events: expected, heard: bytes.length })
})

test('what breaks off is no event, and nothing is no fault', async () => {
  assert.deepEqual((await read([text.slice(0, 40)])).events, [])
  assert.deepEqual((await read([])).events, [])
  for await (const event of readEvents(null)) assert.fail(event.data)
})

test('an event that never ends is given up', async () => {
  await assert.rejects(read(Array.from({ length: 40 }, () => 'x'.repeat(50_000))), /never ends/)
})

test('lines of data are joined, and a frame without data is none', () => {
  assert.deepEqual(parseFrame('data: a\ndata:b\ndata\nother: x'), {
    event: 'message',
    data: 'a\nb\n',
    id: undefined,
  })
  assert.equal(parseFrame(': a comment\nid: 3'), undefined)
})
