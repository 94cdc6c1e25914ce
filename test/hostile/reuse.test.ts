import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { SandboxSpec } from '@toolyard/sandbox/sandboxes'
import { testDockerHost } from '@toolyard/testkit/environment'
import type { Arena } from './fixtures/arena.ts'
import { assertNothingFound, openArena, requestOf, takeOne, told } from './fixtures/arena.ts'

// Callers of one tool and topic that share a sandbox, one after the other.

let arena: Arena
before(async () => {
  arena = await openArena({ dockerHost: testDockerHost() })
})
after(() => arena?.close())

const reused = (change: Partial<SandboxSpec> = {}) => arena.specOf('reuse.py', { reuse: 10, ...change })

async function call(spec: SandboxSpec, payload: string, topic: string, env: Record<string, string> = {}) {
  const sandbox = await takeOne(arena.sandboxes, spec, topic)
  const outcome = await sandbox.run({ ...requestOf(payload), env })
  await sandbox.release()
  assert.ok(outcome.kind === 'exited' && outcome.code === 0, told(outcome))
  return { id: sandbox.id, source: sandbox.source, stdout: String(outcome.stdout) }
}

for (const input of ['argument', 'stdin'] as const)
  test(`the next caller finds nothing of the one before, payload by ${input}`, async () => {
    const secret = randomUUID()
    const topic = randomUUID()
    const spec = reused({ input })
    const first = await call(spec, `leave ${secret}`, topic, { SETTING: secret })
    assert.equal(first.stdout, 'left\n')
    const second = await call(spec, 'look', topic)
    assert.equal(second.source, 'reused')
    assert.equal(second.id, first.id)
    assertNothingFound(second.stdout, secret)
  })

test('one topic never gets the sandbox of another', async () => {
  const secret = randomUUID()
  const [mine, other] = [randomUUID(), randomUUID()]
  const first = await call(reused(), `leave ${secret}`, mine)
  const second = await call(reused(), 'look', other)
  assert.notEqual(second.id, first.id)
  assert.equal(second.source, 'started')
  assertNothingFound(second.stdout, secret)
})

test('a caller that was killed in the middle leaves its sandbox to nobody', async () => {
  const topic = randomUUID()
  const sandbox = await takeOne(arena.sandboxes, reused(), topic)
  const outcome = await sandbox.run({ ...requestOf('hold secret'), timeoutMs: 500 })
  assert.equal(outcome.kind, 'timed_out', told(outcome))
  await sandbox.release()
  assert.equal((await call(reused(), 'look', topic)).source, 'started')
})

test('a caller who leaves 300,000 files leaves none to the next', async () => {
  const topic = randomUUID()
  const spec = arena.specOf('hoard.py', { reuse: 10, memoryBytes: 1_073_741_824 })
  const sandbox = await takeOne(arena.sandboxes, spec, topic)
  const outcome = await sandbox.run(requestOf('300000'))
  await sandbox.release()
  assert.ok(outcome.kind === 'exited' && outcome.code === 0, told(outcome))
  const next = await takeOne(arena.sandboxes, spec, topic)
  const looked = await next.run(requestOf('0'))
  await next.release()
  assert.equal(String(looked.stdout), '0\n')
})
