import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { success } from '../fixtures/outcomes.ts'
import { claimOne, makeWorld, operator, runningOne, submitOne } from '../fixtures/world.ts'
import { createAfterCommit } from './after-commit.ts'
import { createAnnouncer } from './announce.ts'
import { cancel } from './cancel.ts'
import { finish } from './finish.ts'
import { createWatcher } from './watcher.ts'

const { pool, database, deps: silent } = await makeWorld()
const proxy = await stallableProxy(database.url)

function open(t: TestContext, recheckMs = 60_000) {
  const errors: unknown[] = []
  const afterCommit = createAfterCommit({
    pool,
    queues: { enqueue: async () => {} },
    onFailure: (error) => errors.push(error),
  })
  const watcher = createWatcher({
    pool,
    databaseUrl: proxy.url,
    applicationName: 'watcher-test',
    onError: (error) => errors.push(error),
    recheckMs,
  })
  t.after(async () => {
    await watcher.close()
    await afterCommit.settle()
  })
  t.after(() => proxy.mend())
  return { watcher, errors, deps: { pool, afterCommit } }
}

test('whoever waits is woken by the finish of another process, long before anybody looks again', async (t) => {
  const { watcher, deps } = open(t)
  await waitUntil('it to listen', () => watcher.isListening())
  const holds = await Promise.all(Array.from({ length: 30 }, () => runningOne(deps)))
  const waits = holds.flatMap(({ id }) => [watcher.waitFinal(id, 20_000), watcher.waitFinal(id, 20_000)])
  // By then all that are waited for have been looked at, so nothing but a message wakes them.
  assert.equal(await watcher.waitFinal('inv_00000000000000000000000000', 400), false)
  await Promise.all(holds.map((hold) => finish(deps, { hold, outcome: success })))
  assert.ok((await Promise.all(waits)).every(Boolean))
})

test('what is final already is soon found to be', async (t) => {
  const { watcher } = open(t)
  const hold = await runningOne(silent)
  await finish(silent, { hold, outcome: success })
  assert.equal(await watcher.waitFinal(hold.id, 20_000), true)
})

test('a message that is lost delays by one turn of looking again', async (t) => {
  const { watcher } = open(t, 50)
  const hold = await runningOne(silent)
  const waiting = watcher.waitFinal(hold.id, 20_000)
  await finish(silent, { hold, outcome: success })
  assert.equal(await waiting, true)
})

test('what was said while it could not hear is found when it listens again', async (t) => {
  const { watcher, deps, errors } = open(t)
  await waitUntil('it to listen', () => watcher.isListening())
  const hold = await runningOne(deps)
  const waiting = watcher.waitFinal(hold.id, 20_000)
  proxy.cut()
  await waitUntil('the break', () => errors.length > 0)
  await finish(deps, { hold, outcome: success })
  proxy.mend()
  assert.equal(await waiting, true)
})

test('a wait ends with its time, with its signal, and for what does not exist', async (t) => {
  const { watcher } = open(t)
  const { id } = await submitOne(silent)
  const controller = new AbortController()
  const waiting = watcher.waitFinal(id, 20_000, controller.signal)
  controller.abort()
  assert.equal(await waiting, false)
  assert.equal(await watcher.waitFinal(id, 20_000, controller.signal), false)
  assert.equal(await watcher.waitFinal(id, 30), false)
  assert.equal(await watcher.waitFinal('inv_00000000000000000000000000', 30), false)
})

test('the events of an invocation are heard in order until nobody wants them', async (t) => {
  const { watcher, deps } = open(t)
  await waitUntil('it to listen', () => watcher.isListening())
  const { id } = await submitOne(deps)
  const heard = new Set<string>()
  const stop = watcher.watch(id, (event) => heard.add(event))
  const hold = await claimOne(deps, id)
  await waitUntil('the start', () => heard.has('started'))
  await cancel(deps, operator, { id })
  await waitUntil('the cancel', () => heard.has('cancel_requested'))
  await finish(deps, { hold, outcome: success })
  await waitUntil('the end', () => heard.has('finished'))
  assert.deepEqual([...heard], ['started', 'cancel_requested', 'finished'])
  stop()
  heard.clear()
  await pool.query("select pg_notify('invocations_finished', $1)", [id])
  const other = await runningOne(deps)
  const waiting = watcher.waitFinal(other.id, 10_000)
  await finish(deps, { hold: other, outcome: success })
  assert.equal(await waiting, true)
  assert.equal(heard.size, 0)
})

test('announcements of a few milliseconds are one statement, of thousands a few', async () => {
  const statements: string[][] = []
  const counting = {
    query: (statement: { text: string; values: string[][] }) => {
      statements.push(statement.values[1] ?? [])
      return pool.query(statement)
    },
  } as typeof pool
  const announcer = createAnnouncer({ pool: counting, onFailure: (error) => assert.fail(String(error)) })
  const ids = Array.from({ length: 2_500 }, (_, index) => `inv_${String(index).padStart(26, '0')}`)
  for (const id of ids) announcer.announce('finished', [id, id])
  await announcer.settle()
  assert.equal(statements.length, 1)
  assert.deepEqual(
    statements.flat().flatMap((payload) => payload.split(',')),
    ids,
  )
  assert.ok(statements.flat().every((payload) => Buffer.byteLength(payload) < 8_000))
})
