import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { compile, sanitizers, warnings } from './build.ts'
import { frame, runBody, type RunOptions } from './testing/frames.ts'
import { createYard, finished, type Yard } from './testing/sandbox.ts'

let yard: Yard
before(async () => {
  yard = await createYard()
})
after(async () => {
  await yard?.remove()
})

test('half a million mutated requests never read outside of the body and never break a promise', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'toolyard-fuzz-'))
  try {
    const program = join(folder, 'fuzz-frame')
    await compile('cc', [...warnings, ...sanitizers, 'frame.c', 'testing/fuzz_frame.c'], program)
    for (const seed of ['1', '2']) {
      const { stdout, stderr } = await promisify(execFile)(program, [seed, '250000'])
      assert.equal(stderr, '')
      // both sides of the parser must have been visited
      assert.ok(Number(stdout) > 40_000 && Number(stdout) < 210_000, `${stdout} were accepted`)
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})

function patched(offset: number, bytes: number[], options: RunOptions = {}): Buffer {
  const body = runBody({ payload: 'leave 0', ...options })
  Buffer.from(bytes).copy(body, offset)
  return frame('R', body)
}

function u32(value: number): number[] {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return [...bytes]
}

function header(kind: number, reserved: readonly number[], length: number): Buffer {
  return Buffer.from([kind, ...reserved, ...u32(length)])
}

const R = 'R'.charCodeAt(0)
const malformed: Record<string, Buffer> = {
  'an unknown kind': frame('Z'),
  'a kind of the other direction': frame('X', Buffer.alloc(64)),
  'kind zero': header(0, [0, 0, 0], 0),
  'reserved byte 1': header(R, [1, 0, 0], 100),
  'reserved byte 2': header(R, [0, 1, 0], 100),
  'reserved byte 3': header(R, [0, 0, 1], 100),
  'a keep-alive with a body': frame('K', Buffer.from('x')),
  'a cancel with a body': frame('C', Buffer.from('x')),
  'a request too short for its fixed part': frame('R', Buffer.alloc(23)),
  'a request of no bytes': header(R, [0, 0, 0], 0),
  'a body one byte over the maximum': header(R, [0, 0, 0], 6_422_529),
  'a body of four gigabytes': header(R, [0, 0, 0], 0xffff_ffff),
  'version 0': patched(0, [0]),
  'version 2': patched(0, [2]),
  'an unknown flag': patched(1, [4]),
  'the highest flag': patched(1, [128]),
  'a count of limits over the maximum': patched(2, [17]),
  'limits that are not there': patched(2, [2]),
  'a count of environment entries over the maximum': patched(3, [33]),
  'environment entries that are not there': patched(3, [1]),
  'a count of directories over the maximum': patched(4, [17]),
  'directories that are not there': patched(4, [1]),
  'reserved byte 5': patched(5, [1]),
  'reserved byte 6': patched(6, [1]),
  'reserved byte 7': patched(7, [1]),
  'no deadline': patched(8, u32(0)),
  'a deadline over a day': patched(8, u32(86_400_001)),
  'no room for stdout': patched(12, u32(0)),
  'too much room for stdout': patched(12, u32(67_108_865)),
  'too much room for stderr': patched(16, u32(67_108_865)),
  'no silence': patched(20, u32(0)),
  'a silence over 8 seconds': patched(20, u32(8001)),
  'an unknown resource': patched(24, u32(16), { limits: [[6, 1n]] }),
  'an environment entry without a value': frame('R', runBody({ environment: ['NAME'] })),
  'an environment entry without a name': frame('R', runBody({ environment: ['=value'] })),
  'an empty environment entry': frame('R', runBody({ environment: [''] })),
  'an environment entry over the maximum': frame('R', runBody({ environment: [`A=${'x'.repeat(4094)}`] })),
  'a directory that is not absolute': frame('R', runBody({ directories: ['data'] })),
  'the root as a directory': frame('R', runBody({ directories: ['/'] })),
  'a directory with ..': frame('R', runBody({ directories: ['/data/..'] })),
  'a directory with .': frame('R', runBody({ directories: ['/./data'] })),
  'a directory with an empty part': frame('R', runBody({ directories: ['/data//x'] })),
  'a directory that ends in a slash': frame('R', runBody({ directories: ['/data/'] })),
  'an empty directory': frame('R', runBody({ directories: [''] })),
  'an argument with a zero byte': frame('R', runBody({ payload: 'leave\u{0}0' })),
  'a payload over the maximum': frame('R', runBody({ payload: Buffer.alloc(6_291_457, 'x'), onStdin: true })),
}

for (const [what, bytes] of Object.entries(malformed))
  test(`the init ends with 72 and runs nothing at ${what}`, async () => {
    const sandbox = yard.start()
    await sandbox.expect('H')
    sandbox.send(bytes)
    assert.equal(await sandbox.ended, 72)
    await assert.rejects(sandbox.next(), /the init ended with 72/)
  })

test('a malformed frame in the middle of a run ends everything', async () => {
  for (const bytes of [
    frame('Z'),
    frame('R', runBody({ payload: 'leave 0' })),
    frame('K', Buffer.from('x')),
  ]) {
    const sandbox = yard.start()
    await sandbox.expect('H')
    sandbox.request({ payload: 'wait stubbornly', reuse: true })
    await sandbox.expect('S')
    await sandbox.expect('O')
    sandbox.send(bytes)
    assert.equal(await sandbox.ended, 72)
  }
})

test('the largest of everything is accepted', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  const run = finished(
    await sandbox.run({
      payload: 'leave 6',
      deadlineMs: 86_400_000,
      stdoutCap: 67_108_864,
      stderrCap: 67_108_864,
      silenceMs: 8000,
      limits: Array.from({ length: 16 }, () => [4, 0n] as const),
      environment: [`A=${'x'.repeat(4093)}`, ...Array.from({ length: 31 }, (_, i) => `B${i}=`)],
      directories: Array.from({ length: 16 }, () => `/${'d'.repeat(254)}`),
    }),
  )
  assert.equal(run.code, 6)
})

test('a request that arrives byte by byte is the same request', async () => {
  const sandbox = yard.start()
  await sandbox.expect('H')
  for (const byte of frame('R', runBody({ payload: 'leave 8' }))) {
    sandbox.send(Buffer.from([byte]))
    await new Promise(setImmediate)
  }
  assert.equal(finished(await sandbox.outcome()).code, 8)
})
