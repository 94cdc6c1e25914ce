import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { Channel } from './channel.ts'
import type { Autopsy } from './launcher.ts'
import { runIn } from './run-in.ts'
import type { RunRequest, SandboxSpec } from './sandboxes.ts'
import { Session } from './session.ts'

// An init that does not keep its word: an image's author may have put another in its place.

const spec: SandboxSpec = {
  tool: 'x',
  image: 'x',
  entrypoint: ['/x'],
  input: 'argument',
  volumes: [],
  memoryBytes: 1,
  cpus: 1,
  network: 'none',
  writable: false,
  reuse: 1,
}
const request: RunRequest = {
  payload: 'x',
  env: {},
  timeoutMs: 100,
  stdoutMaxBytes: 1_000,
  stderrMaxBytes: 1_000,
}

test('an init that never reports is given up a second after the deadline', async () => {
  const { outcome } = await run([frame('S')])
  assert.equal(outcome.kind, 'timed_out')
  assert.ok(outcome.wallMs >= 1_100 && outcome.wallMs < 1_600, String(outcome.wallMs))
})

test('an init that ignores a cancel is given up after a second', async () => {
  const { outcome } = await run([frame('S')], { timeoutMs: 60_000, signal: AbortSignal.timeout(50) })
  assert.equal(outcome.kind, 'cancelled')
  assert.ok(outcome.wallMs < 1_600)
})

test('an init that sends more than the cap is cut at the cap', async () => {
  const { outcome, isClosed } = await run([
    frame('S'),
    frame('O', Buffer.alloc(900)),
    frame('O', Buffer.alloc(900)),
  ])
  assert.equal(outcome.kind, 'output_too_large')
  assert.equal(outcome.stdout.length, 1_000)
  assert.equal(isClosed(), true)
})

test('when nobody can say that it is dead, the engine is lost, whatever the limit was', async () => {
  const unknown = { kind: 'unknown', detail: 'no answer' } as const
  assert.equal((await run([frame('S')], {}, unknown)).outcome.kind, 'engine_lost')
})

test('a stream that makes no sense ends the sandbox, and its end is what the engine says', async () => {
  const cases = [
    { said: [frame('S'), frame('H', Buffer.alloc(8))], autopsy: dead(137, true), kind: 'out_of_memory' },
    { said: [frame('S'), 'close'], autopsy: dead(71), kind: 'engine_lost' },
    { said: [frame('S'), 'close'], autopsy: dead(70), kind: 'engine_lost' },
    { said: [frame('S'), 'close'], autopsy: dead(73), kind: 'engine_lost' },
    { said: [frame('S'), 'close'], autopsy: dead(75), kind: 'exited' },
    { said: ['close'], autopsy: dead(137), kind: 'engine_lost' },
  ] as const
  for (const { said, autopsy, kind } of cases) {
    const { outcome, isClosed } = await run(said, {}, autopsy)
    assert.equal(outcome.kind, kind, JSON.stringify(autopsy))
    assert.equal(isClosed(), true)
    assert.equal(outcome.isHandedOver, true)
  }
})

test('what no init says during a run is the failure of its tool: no further attempt, and no success', async () => {
  const nonsense = {
    garbage: [frame('S'), Buffer.from('garbage!')],
    'garbage before the start': [Buffer.from('garbage!')],
    'an endless frame': [frame('S'), Buffer.from('O\0\0\0\xff\xff\xff\x7f', 'latin1')],
    'a second hello': [frame('S'), frame('H', Buffer.alloc(8))],
    'a promise of cleanliness': [frame('S'), frame('A', Buffer.alloc(8))],
    'no promise of it': [frame('S'), frame('N')],
    'a start that is taken back': [frame('S'), frame('F', Buffer.alloc(5))],
    'an unknown verdict': [frame('S'), frame('X', Buffer.alloc(64, 9))],
  }
  // We close its stdin, so it leaves with 70, unless it was just leaving by itself.
  for (const [what, said] of Object.entries(nonsense))
    for (const code of [70, 0, 137]) {
      const { outcome, isClosed } = await run(said, {}, dead(code))
      assert.ok(outcome.kind === 'exited' && outcome.code === 76, `${what} ${code}: ${outcome.kind}`)
      assert.equal(outcome.isOutputComplete, false)
      assert.equal(outcome.isHandedOver, true)
      assert.equal(isClosed(), true)
    }
  const unknown = { kind: 'unknown', detail: 'no answer' } as const
  assert.equal((await run(nonsense.garbage, {}, unknown)).outcome.kind, 'engine_lost')
})

test('a killed tool whose init cannot see the counter is out of memory when the engine says so', async () => {
  const report = Buffer.alloc(64)
  report.set([1, 0, 9, 0])
  const killed = [frame('S'), frame('X', report)]
  assert.equal((await run(killed, {}, dead(0, true))).outcome.kind, 'out_of_memory')
  assert.equal((await run(killed, {}, dead(0, false))).outcome.kind, 'exited')
  report.set([1, 0, 9, 1])
  assert.equal((await run([frame('X', report)], {}, dead(0, true))).outcome.kind, 'exited')
})

test('after its only run a sandbox is closed at once, unless it ended by itself: then by whoever releases it', async () => {
  const report = (verdict: number) => frame('X', Buffer.from([verdict, ...Buffer.alloc(63)]))
  for (const [verdict, kind, closes] of [
    [0, 'exited', false],
    [1, 'exited', true],
    [2, 'timed_out', true],
    [3, 'cancelled', true],
  ] as const) {
    const { outcome, session, isClosed } = await run([frame('S'), report(verdict)])
    assert.deepEqual([outcome.kind, isClosed(), session.isIdle()], [kind, closes, false], String(verdict))
    session.close()
    assert.equal(isClosed(), true)
  }
})

test('a kernel that is short of something is not the tool, a program that is missing is', async () => {
  const failure = (errno: number) => frame('F', Buffer.from([errno, 0, 0, 0, 0x78]))
  for (const [errno, reason] of [
    [2, 'entrypoint'],
    [13, 'entrypoint'],
    [7, 'payload'],
    [11, 'engine'],
    [12, 'engine'],
    [38, 'engine'],
  ] as const) {
    const { outcome } = await run([failure(errno)])
    assert.ok(outcome.kind === 'start_failed' && outcome.reason === reason, String(errno))
    assert.equal(outcome.isHandedOver, false)
  }
})

test('a keep-alive goes out every two seconds of a run', async () => {
  const { channel, sent, say } = openChannel()
  const session = new Session(channel)
  say(hello)
  const running = session.run({ ...request, timeoutMs: 4_000, input: 'argument', isReused: false, scrub: [] })
  const keepAlives = () => sent.filter((bytes) => bytes.toString('latin1', 0, 1) === 'K').length
  const startedAt = performance.now()
  await waitUntil('two keep-alives', () => keepAlives() === 2)
  const tookMs = performance.now() - startedAt
  assert.ok(tookMs > 3_500 && tookMs < 4_900, String(tookMs))
  session.close()
  await running
})

const hello = frame('H', Buffer.from([1, 0, 0, 0, 0, 0, 0x60, 0]))
const dead = (code: number, isOutOfMemory = false): Autopsy => ({ kind: 'dead', code, isOutOfMemory })

async function run(
  said: readonly (Buffer | 'close')[],
  change: Partial<RunRequest> = {},
  autopsy: Autopsy = dead(0),
) {
  const { channel, say } = openChannel()
  const session = new Session(channel)
  say(hello)
  assert.deepEqual(await session.hello(1_000), { kind: 'ready' })
  const launched = { id: 'x', session, autopsy: async () => autopsy, remove: async () => {} }
  const running = runIn(launched, spec, { ...request, ...change }, false)
  for (const one of said) {
    if (one === 'close') channel.close()
    else say(one)
  }
  return { outcome: await running, session, isClosed: () => !channel.isOpen() }
}

function openChannel() {
  const sent: Buffer[] = []
  let listener: Parameters<Channel['listen']>[0] | undefined
  let isOpen = true
  const channel: Channel = {
    send: (data) => sent.push(data),
    listen(given) {
      listener = given
    },
    close() {
      if (isOpen) listener?.onClose('')
      isOpen = false
    },
    isOpen: () => isOpen,
  }
  return { channel, sent, say: (bytes: Buffer) => listener?.onData(bytes) }
}

function frame(kind: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(8)
  head.write(kind)
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body])
}
