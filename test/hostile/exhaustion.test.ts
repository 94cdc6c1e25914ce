import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { Arena } from './fixtures/arena.ts'
import { attemptsIn, openArena, told } from './fixtures/arena.ts'
import { cgroupNumber, processesIn } from './fixtures/host.ts'

// Tools that want more of the machine than is theirs.

const mebibyte = 1_048_576

let arena: Arena
before(async () => {
  arena = await openArena({ dockerHost: testDockerHost() })
})
after(() => arena?.close())

test('a fork bomb has 64 processes, and dies at the deadline', async () => {
  const outcome = await arena.attack({
    program: 'fork-bomb.py',
    request: { timeoutMs: 1_500 },
    async during(id) {
      await waitUntil('it to be full', () => cgroupNumber(id, 'pids.current') === 64)
      assert.ok(processesIn(id).length <= 64)
    },
  })
  assert.equal(outcome.kind, 'timed_out', told(outcome))
})

test('a tool that fills the process table and leaves has exited, and so have they', async () => {
  const outcome = await arena.attack({ program: 'fork-and-leave.py' })
  assert.ok(outcome.kind === 'exited' && outcome.code === 3, told(outcome))
  assert.ok(outcome.wallMs < 3_000, told(outcome))
})

test('a memory bomb ends as out of memory, within its own limit', async () => {
  const outcome = await arena.attack({ program: 'memory-bomb.py' })
  assert.equal(outcome.kind, 'out_of_memory', told(outcome))
  assert.ok((outcome.memoryPeakBytes ?? 0) <= 128 * mebibyte)
})

test('open files end at 1,024', async () => {
  const said = attemptsIn(await arena.attack({ program: 'descriptors.py' }))
  assert.deepEqual(said, {
    files: 'EMFILE',
    'one more socket': 'EMFILE',
    'one more pipe': 'EMFILE',
    count: 'done 1021',
  })
})

test('/tmp and /dev/shm hold 64 MiB each', async () => {
  const spec = { memoryBytes: 256 * mebibyte }
  const said = attemptsIn(await arena.attack({ program: 'fill.py', payload: '/tmp,/dev/shm', spec }))
  assert.deepEqual(said, {
    '/tmp': 'ENOSPC',
    '/tmp holds': `done ${64 * mebibyte}`,
    '/dev/shm': 'ENOSPC',
    '/dev/shm holds': `done ${64 * mebibyte}`,
  })
})

test('what is in /tmp counts as memory', async () => {
  const spec = { memoryBytes: 48 * mebibyte }
  const outcome = await arena.attack({ program: 'fill.py', payload: '/tmp', spec })
  assert.equal(outcome.kind, 'out_of_memory', told(outcome))
})

test('empty files without end cost the memory of their own sandbox', async () => {
  const outcome = await arena.attack({ program: 'inodes.py', spec: { memoryBytes: 48 * mebibyte } })
  assert.equal(outcome.kind, 'out_of_memory', told(outcome))
})

test('a directory in a directory in a directory costs the memory of its own sandbox', async () => {
  const outcome = await arena.attack({ program: 'deep.py', spec: { memoryBytes: 48 * mebibyte } })
  assert.equal(outcome.kind, 'out_of_memory', told(outcome))
})

test('millions of small writes end at the deadline', async () => {
  const outcome = await arena.attack({ program: 'small-writes.py', request: { timeoutMs: 1_500 } })
  assert.equal(outcome.kind, 'timed_out', told(outcome))
  assert.ok(outcome.wallMs < 2_200, told(outcome))
})

for (const pipe of ['stdout', 'stderr'] as const)
  test(`a byte at a time on ${pipe} costs the worker no more than its bytes`, async () => {
    const heldBytes = process.memoryUsage.rss()
    let peak = 0
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20)
    const request = { timeoutMs: 4_000 }
    const outcome = await arena.attack({ program: 'one-byte-at-a-time.py', payload: pipe, request })
    clearInterval(watch)
    assert.equal(outcome.kind, 'timed_out', told(outcome))
    assert.ok(peak - heldBytes < 32 * mebibyte, `${(peak - heldBytes) / mebibyte} MiB`)
  })
