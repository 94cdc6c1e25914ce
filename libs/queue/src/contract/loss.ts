import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
// sleeps because only time can show that nobody takes the held job
import { setTimeout as delay } from 'node:timers/promises'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { MakeStore } from './store.ts'
import { addAtLast, collector, delivery, gate, isEmpty, openQueues } from './store.ts'

export function testLoss(makeStore: MakeStore): void {
  test('the job of a consumer process killed with SIGKILL comes back', async (t) => {
    const store = await makeStore(t)
    const { queues } = openQueues(t, store)
    const lockMs = 500
    const where =
      store.redisUrl === undefined ? [] : ['--redis', store.redisUrl, '--prefix', store.redisPrefix]
    const file = join(import.meta.dirname, '../fixtures/hold-job.ts')
    const args = [file, '--database', store.databaseUrl, '--lock', String(lockMs), ...where]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    await queues.enqueue('deliveries', [delivery('orphan')])
    const [output] = await once(child.stdout, 'data')
    assert.match(String(output), /holding/)
    const { handled, handler } = collector()
    await queues.consume('deliveries', handler, { concurrency: 1, lockMs })
    // Held and renewed for longer than its lock: nobody else may have it while its process lives.
    await delay(3 * lockMs)
    assert.deepEqual(handled, [])
    child.kill('SIGKILL')
    await waitUntil('the job to come back', () => handled.length === 1, 5 * lockMs)
    await waitUntil('the queue to be empty', () => isEmpty(queues))
  })

  test('a queue wiped while idle takes the next job', async (t) => {
    const store = await makeStore(t)
    const { queues } = openQueues(t, store)
    const { handled, handler } = collector()
    await queues.consume('deliveries', handler, { concurrency: 2 })
    await queues.enqueue('deliveries', [delivery('before'), { ...delivery('lost'), delayMs: 60_000 }])
    await waitUntil('the first', () => handled.length === 1)
    await store.wipe()
    assert.equal(await isEmpty(queues), true)
    await queues.enqueue('deliveries', [delivery('after')])
    await waitUntil('the next', () => handled.length === 2)
    assert.deepEqual(handled, ['before', 'after'])
  })

  test('a queue wiped while a job runs lets it end and takes the next, even under the same id', async (t) => {
    const store = await makeStore(t)
    const { queues, errors } = openQueues(t, store)
    const held = gate()
    await queues.consume('deliveries', held.handler, { concurrency: 1 })
    await queues.enqueue('deliveries', [delivery('held')])
    await waitUntil('it to run', () => held.started.length === 1)
    await store.wipe()
    await queues.enqueue('deliveries', [delivery('held'), delivery('next')])
    held.open()
    await waitUntil('the others', () => held.started.length === 3)
    // In either order: the end of the lost run locks the row of its namesake for a moment, and a locked row is passed over.
    assert.deepEqual(held.started.toSorted(), ['held', 'held', 'next'])
    await waitUntil('the queue to be empty', () => isEmpty(queues))
    assert.ok(errors.every((error) => error instanceof Error))
  })

  test('connections cut by the server while idle and while a job runs are made anew', async (t) => {
    const store = await makeStore(t)
    const { queues } = openQueues(t, store)
    const held = gate()
    await queues.consume('deliveries', held.handler, { concurrency: 2 })
    await queues.enqueue('deliveries', [delivery('held')])
    await waitUntil('it to run', () => held.started.length === 1)
    assert.ok((await store.killConnections()) > 0)
    await addAtLast(queues, 'after')
    await waitUntil('the next', () => held.started.length === 2)
    held.open()
    await waitUntil('the queue to be empty', () => isEmpty(queues))
    assert.ok((await store.killConnections()) > 0)
    await addAtLast(queues, 'last')
    await waitUntil('the last', () => held.started.length === 3)
  })
}
