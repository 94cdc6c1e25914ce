import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { readRawBody } from './read-raw-body.ts'

const requestWith = (body: ReadableStream<Uint8Array> | string | undefined) => {
  const init: RequestInit = { method: 'POST', duplex: 'half', ...(body === undefined ? {} : { body }) }
  return new Request('http://localhost/', init)
}

const patient = { arrivalMs: 60_000, silenceMs: 60_000, onBytes: () => {} }

const isMalformed = (words: RegExp) => (error: unknown) =>
  error instanceof AppError && error.code === 'malformed_request' && words.test(error.message)

test('the bytes come as they were sent', async () => {
  const chunks = [Buffer.from([0xff, 0]), Buffer.alloc(0), Buffer.from('ü')]
  const told: number[] = []
  const onBytes = (bytes: number) => void told.push(bytes)
  const body = await readRawBody(requestWith(ReadableStream.from(chunks)), { ...patient, onBytes })
  assert.deepEqual(body, Buffer.from([0xff, 0, 0xc3, 0xbc]))
  assert.deepEqual(told, [2, 2, 4])
  assert.equal((await readRawBody(requestWith(undefined), patient)).length, 0)
})

/** Says something every so often, and is never at its end. */
function endless(everyMs: number) {
  const stopped = Promise.withResolvers<void>()
  let timer: NodeJS.Timeout | undefined
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.from('begun'))
      timer = setInterval(() => controller.enqueue(Buffer.from('more')), everyMs)
    },
    cancel() {
      clearInterval(timer)
      stopped.resolve()
    },
  })
  return { stream, stopped: stopped.promise }
}

test('a body that says nothing, or has no end, is given up, and its sender is told to stop', async () => {
  for (const [everyMs, times] of [
    [60_000, { silenceMs: 20 }],
    [5, { arrivalMs: 100 }],
  ] as const) {
    const { stream, stopped } = endless(everyMs)
    await assert.rejects(readRawBody(requestWith(stream), { ...patient, ...times }), isMalformed(/too long/))
    await stopped
  }
})

test('whoever goes on saying something is heard for as long as a body may take', async () => {
  const { stream } = endless(50)
  const startedAtMs = performance.now()
  const reading = readRawBody(requestWith(stream), { ...patient, arrivalMs: 1_500, silenceMs: 700 })
  await assert.rejects(reading, isMalformed(/too long/))
  assert.ok(performance.now() - startedAtMs > 1_400)
})

test('a body for which there is no room is refused where it has none, and its sender is told to stop', async () => {
  const { stream, stopped } = endless(1)
  const refusal = new AppError('rate_limited', 'no room')
  const onBytes = (bytes: number) => {
    if (bytes > 10) throw refusal
  }
  await assert.rejects(
    readRawBody(requestWith(stream), { ...patient, onBytes }),
    (error) => error === refusal,
  )
  await stopped
})

test('a body that breaks off is no body', async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('gone')),
  })
  await assert.rejects(readRawBody(requestWith(broken), patient), isMalformed(/to its end/))
})
