import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import type { Arena } from './fixtures/arena.ts'
import { openArena, requestOf, takeOne, told } from './fixtures/arena.ts'
import { processesIn } from './fixtures/host.ts'

// Tools that say too much, too little or too fast, and tools that do not leave.

const mebibyte = 1_048_576

let arena: Arena
before(async () => {
  arena = await openArena({ dockerHost: testDockerHost() })
})
after(() => arena?.close())

for (const [payload, what] of [
  ['stdout', 'stdout without end'],
  ['line', 'one line of 100 MB'],
] as const)
  test(`${what} is killed at its cap, which is all that the worker ever holds`, async () => {
    const heldBytes = process.memoryUsage.rss()
    const outcome = await arena.attack({ program: 'flood.py', payload })
    assert.equal(outcome.kind, 'output_too_large', told(outcome))
    assert.equal(outcome.stdout.length, mebibyte)
    assert.ok(outcome.wallMs < 2_000, told(outcome))
    assert.ok(process.memoryUsage.rss() - heldBytes < 32 * mebibyte)
  })

test('stderr without end is read and dropped until the deadline', async () => {
  const request = { timeoutMs: 1_500 }
  const heldBytes = process.memoryUsage.rss()
  const outcome = await arena.attack({ program: 'flood.py', payload: 'stderr', request })
  assert.equal(outcome.kind, 'timed_out', told(outcome))
  assert.ok(outcome.stderrBytes > 10 * mebibyte, told(outcome))
  assert.equal(outcome.stderrTail.length, 8_192)
  assert.ok(process.memoryUsage.rss() - heldBytes < 32 * mebibyte)
})

for (const [payload, what] of [
  ['deaf', 'ignores SIGTERM'],
  ['closed', 'closes all its descriptors and lives on'],
  ['stopped', 'stops itself'],
] as const)
  test(`a tool that ${what} is dead within 600 ms of its deadline`, async () => {
    let id = ''
    const during = async (containerId: string) => {
      id = containerId
      assert.ok(processesIn(id).length >= 2, 'it was alive')
    }
    const request = { timeoutMs: 800 }
    const outcome = await arena.attack({ program: 'linger.py', payload, request, during })
    assert.equal(outcome.kind, 'timed_out', told(outcome))
    assert.equal(String(outcome.stdout), 'before')
    assert.ok(outcome.wallMs >= 800 && outcome.wallMs < 1_400, told(outcome))
    assert.deepEqual(processesIn(id), [])
  })

test('daemons that outlive their parent die with the run', async () => {
  const outcome = await arena.attack({ program: 'linger.py', payload: 'daemon' })
  assert.equal(`${outcome.kind} ${String(outcome.stdout)}`, 'exited left\n', told(outcome))
  assert.ok(outcome.isOutputComplete)
  assert.ok(outcome.wallMs < 2_000, told(outcome))
})

test('a tool that prints and is gone at once loses nothing, fresh and reused', async () => {
  const text = randomBytes(45_000).toString('base64')
  for (const [reuse, count] of [
    [1, 5],
    [1_000, 200],
  ] as const)
    for (let turn = 0; turn < count; turn++) {
      const sandbox = await takeOne(arena.sandboxes, arena.specOf('print-and-exit.sh', { reuse }))
      const outcome = await sandbox.run(requestOf(text))
      await sandbox.release()
      assert.ok(outcome.kind === 'exited' && outcome.code === 7, told(outcome))
      assert.ok(String(outcome.stdout) === text && outcome.stderrBytes === text.length, told(outcome))
    }
})
