import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { readRawBody } from './read-raw-body.ts'

const requestWith = (body: ReadableStream<Uint8Array> | string | undefined) => {
  const init: RequestInit = { method: 'POST', duplex: 'half', ...(body === undefined ? {} : { body }) }
  return new Request('http://localhost/', init)
}

const isMalformed = (words: RegExp) => (error: unknown) =>
  error instanceof AppError && error.code === 'malformed_request' && words.test(error.message)

test('the bytes come as they were sent', async () => {
  const chunks = [Buffer.from([0xff, 0]), Buffer.alloc(0), Buffer.from('ü')]
  const body = await readRawBody(requestWith(ReadableStream.from(chunks)), 60_000)
  assert.deepEqual(body, Buffer.from([0xff, 0, 0xc3, 0xbc]))
  assert.equal((await readRawBody(requestWith(undefined), 60_000)).length, 0)
})

test('a body that comes too slowly is given up, and its sender is told to stop', async () => {
  const stopped = Promise.withResolvers<void>()
  const stuck = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('begun')),
    cancel: () => stopped.resolve(),
  })
  await assert.rejects(readRawBody(requestWith(stuck), 20), isMalformed(/too long/))
  await stopped.promise
})

test('a body that breaks off is no body', async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('gone')),
  })
  await assert.rejects(readRawBody(requestWith(broken), 60_000), isMalformed(/to its end/))
})
