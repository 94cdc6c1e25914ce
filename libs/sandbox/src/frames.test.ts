import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { test } from 'node:test'
import type { InitFrame } from './frames.ts'
import {
  FrameError,
  cancelFrame,
  createFrameReader,
  encodeRun,
  keepAliveFrame,
  payloadMaxBytes,
} from './frames.ts'

const run = {
  payload: Buffer.from('payload'),
  input: 'argument',
  isReused: false,
  env: {},
  scrub: [],
  deadlineMs: 9_000,
  stdoutMaxBytes: 1_048_576,
  stderrMaxBytes: 262_144,
  silenceMs: 8_000,
} as const

test('frames come out as they went in, however the stream is cut', () => {
  for (let round = 0; round < 200; round++) {
    const frames = Array.from({ length: randomInt(1, 12) }, randomFrame)
    const stream = Buffer.concat(frames.map(({ bytes }) => bytes))
    const reader = createFrameReader()
    const read = randomPieces(stream).flatMap((piece) => reader.read(piece))
    assert.deepEqual(
      read,
      frames.map(({ frame }) => frame),
    )
  }
})

test('a single byte changed in a header is refused or is another valid header, never a crash', () => {
  for (let round = 0; round < 2_000; round++) {
    const { bytes } = randomFrame()
    bytes[randomInt(0, 8)] = randomInt(0, 256)
    try {
      createFrameReader().read(bytes)
    } catch (error) {
      assert.ok(error instanceof FrameError, String(error))
    }
  }
})

test('random bytes never make the reader wait for more than one frame', () => {
  for (let round = 0; round < 500; round++) {
    const reader = createFrameReader()
    assert.throws(() => {
      for (let read = 0; read < 200_000; read += 4_096) reader.read(randomBytes(4_096))
    }, FrameError)
  }
})

test('a length beyond the limit is refused before its body comes', () => {
  for (const [kind, length] of Object.entries({ O: 65_537, E: 0, H: 9, X: 63, N: 65_537, S: 1 })) {
    const header = Buffer.alloc(8)
    header.write(kind)
    header.writeUInt32LE(length, 4)
    assert.throws(() => createFrameReader().read(header), FrameError, kind)
  }
})

test('an exit report is read field by field', () => {
  const body = Buffer.alloc(64)
  body.set([1, 0, 9, 3])
  body.writeUInt32LE(2, 4)
  for (const [index, value] of [1_500n, 2_500_000n, 4_096n, 0n, 10n, 20n, 30n].entries())
    body.writeBigUInt64LE(value, 8 + 8 * index)
  assert.deepEqual(createFrameReader().read(frameOf('X', body)), [
    {
      kind: 'report',
      report: {
        verdict: 'signaled',
        code: 0,
        signal: 9,
        oomKills: 2,
        isOutputIncomplete: true,
        cpuMs: 1.5,
        wallMs: 2_500,
        processPeakBytes: 4_096,
        stdoutBytes: 10,
        stderrBytes: 20,
        stderrDroppedBytes: 30,
      },
    },
  ])
  body.set([6])
  assert.throws(() => createFrameReader().read(frameOf('X', body)), FrameError)
})

test('a run is laid out as the protocol says', () => {
  const bytes = encodeRun({
    ...run,
    input: 'stdin',
    isReused: true,
    env: { A: 'é', B: '' },
    scrub: ['/data'],
  })
  const tail = Buffer.from('A=é\0B=\0/data\0payload')
  assert.equal(bytes.toString('latin1', 0, 4), 'R\0\0\0')
  assert.equal(bytes.readUInt32LE(4), 24 + tail.length)
  assert.deepEqual([...bytes.subarray(8, 16)], [1, 3, 0, 2, 1, 0, 0, 0])
  assert.deepEqual(
    [16, 20, 24, 28].map((offset) => bytes.readUInt32LE(offset)),
    [9_000, 1_048_576, 262_144, 8_000],
  )
  assert.deepEqual(bytes.subarray(32), tail)
  assert.deepEqual([...keepAliveFrame], [75, 0, 0, 0, 0, 0, 0, 0])
  assert.deepEqual([...cancelFrame], [67, 0, 0, 0, 0, 0, 0, 0])
})

test('what the init would take for a malformed request is not sent', () => {
  const refused = [
    { payload: Buffer.alloc(payloadMaxBytes + 1) },
    { env: { A: 'one\0two' } },
    { env: { A: 'x'.repeat(4_094) } },
    { env: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`A${i}`, ''])) },
    { scrub: Array.from({ length: 17 }, (_, i) => `/d${i}`) },
  ]
  for (const change of refused) assert.throws(() => encodeRun({ ...run, ...change }), FrameError)
})

function randomFrame(): { frame: InitFrame; bytes: Buffer } {
  const body = randomBytes(randomInt(1, randomInt(2, 65_537)))
  const pair = Buffer.concat([u32(body[0] ?? 0), u32(7)])
  const text = body.toString('base64').slice(0, 200)
  const choices: { frame: InitFrame; bytes: Buffer }[] = [
    { frame: { kind: 'stdout', chunk: body }, bytes: frameOf('O', body) },
    { frame: { kind: 'stderr', chunk: body }, bytes: frameOf('E', body) },
    { frame: { kind: 'started' }, bytes: frameOf('S', Buffer.alloc(0)) },
    {
      frame: { kind: 'not_started', errno: 2, detail: text },
      bytes: frameOf('F', Buffer.concat([u32(2), Buffer.from(text)])),
    },
    { frame: { kind: 'unclean', detail: text }, bytes: frameOf('N', Buffer.from(text)) },
    { frame: { kind: 'hello', version: body[0] ?? 0, payloadMaxBytes: 7 }, bytes: frameOf('H', pair) },
    { frame: { kind: 'again', scrubMs: (body[0] ?? 0) / 1_000, removed: 7 }, bytes: frameOf('A', pair) },
  ]
  const chosen = choices[randomInt(choices.length)]
  assert.ok(chosen)
  return chosen
}

function randomPieces(stream: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  const max = randomInt(2, 20_000)
  for (let at = 0; at < stream.length;) {
    const end = at + randomInt(1, max)
    pieces.push(stream.subarray(at, end))
    at = end
  }
  return pieces
}

function frameOf(kind: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(kind)
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
