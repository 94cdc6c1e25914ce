import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { test } from 'node:test'
import { createDemultiplexer } from './channel.ts'

test('stdout and stderr come apart however the stream is cut', () => {
  for (let round = 0; round < 100; round++) {
    const expected = { 1: [] as Buffer[], 2: [] as Buffer[] }
    const stream = Buffer.concat(
      Array.from({ length: 20 }, () => {
        const to = randomInt(2) === 0 ? 1 : 2
        const body = randomBytes(randomInt(0, 3_000))
        expected[to].push(body)
        return message(to, body)
      }),
    )
    const read = { 1: [] as Buffer[], 2: [] as Buffer[] }
    const demultiplex = createDemultiplexer({
      onStdout: (chunk) => read[1].push(chunk),
      onStderr: (chunk) => read[2].push(chunk),
    })
    for (let at = 0; at < stream.length;) {
      const end = at + randomInt(1, 700)
      assert.equal(demultiplex(stream.subarray(at, end)), true)
      at = end
    }
    for (const to of [1, 2] as const) assert.deepEqual(Buffer.concat(read[to]), Buffer.concat(expected[to]))
  }
})

test('a header that cannot be one is told', () => {
  const nothing = { onStdout: () => {}, onStderr: () => {} }
  assert.equal(createDemultiplexer(nothing)(Buffer.from([3, 0, 0, 0, 0, 0, 0, 1, 0])), false)
  assert.equal(createDemultiplexer(nothing)(Buffer.from([1, 0, 9, 0, 0, 0, 0, 1, 0])), false)
})

function message(to: number, body: Buffer): Buffer {
  const header = Buffer.alloc(8)
  header[0] = to
  header.writeUInt32BE(body.length, 4)
  return Buffer.concat([header, body])
}
