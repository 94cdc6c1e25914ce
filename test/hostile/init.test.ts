import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import type { Arena } from './fixtures/arena.ts'
import { assertRefused, attemptsIn, openArena, requestOf, takeOne, told } from './fixtures/arena.ts'

// Tools that turn on PID 1, which has their own user and holds the connection to the worker.

let arena: Arena
before(async () => {
  arena = await openArena({ dockerHost: testDockerHost() })
})
after(() => arena?.close())

const heard = {
  'descriptors by name': 'done []',
  // It is sent, and means nothing to PID 1 of a namespace.
  'pidfd SIGKILL': 'done 0',
}

test('the init can be neither read nor written, held, entered, stopped or slowed down', async () => {
  const said = attemptsIn(await arena.attack({ program: 'init.py' }))
  assert.ok(Object.keys(said).length > 40)
  assertRefused(said, ['EACCES', 'EPERM'], heard)
})

test('an init that withstood its tool serves the next run as well', async () => {
  const spec = arena.specOf('init.py', { reuse: 10 })
  const first = await takeOne(arena.sandboxes, spec)
  assertRefused(attemptsIn(await first.run(requestOf(''))), ['EACCES', 'EPERM'], heard)
  await first.release()
  const second = await takeOne(arena.sandboxes, spec)
  assert.equal(`${second.source} ${second.id}`, `reused ${first.id}`)
  assert.equal((await second.run(requestOf('quiet'))).kind, 'exited')
  await second.release()
})

test('a tool that keeps every processor busy is ended at its deadline, by its init', async () => {
  const request = { timeoutMs: 1_000 }
  const outcome = await arena.attack({ program: 'starve.py', request, during: async () => {} })
  assert.equal(outcome.kind, 'timed_out', told(outcome))
  // A second later the worker would have given it up, and only the init knows what a tool has used.
  assert.ok(outcome.cpuMs !== undefined, told(outcome))
})

test('frames that a tool writes are its output, whatever they say', async () => {
  const outcome = await arena.attack({ program: 'forge.py' })
  assert.ok(outcome.kind === 'exited' && outcome.code === 9, told(outcome))
  // X, H, A and F, the head of an endless O, and four times the head and the piece of the engine's own.
  const length = 8 + 64 + (8 + 8) + (8 + 8) + (8 + 17) + 8
  assert.equal(outcome.stdout.length, length + 4 * 16)
  assert.equal(outcome.stderrBytes, length)
  assert.equal(outcome.stdout.toString('latin1', 0, 1), 'X')
})

test('no tool writes in the place of its init', async () => {
  for (const forgery of ['garbage', 'clean']) {
    const outcome = await arena.attack({ program: 'impersonate.py', payload: forgery })
    assert.ok(outcome.kind === 'exited' && outcome.code === 9, told(outcome))
  }
})
