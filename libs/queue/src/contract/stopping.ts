import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { MakeStore } from './store.ts'
import { collector, delivery, gate, isClosed, isEmpty, openQueues } from './store.ts'

export function testStopping(makeStore: MakeStore): void {
  test('drain takes nothing more and waits for what runs', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const held = gate()
    const consumer = await queues.consume('deliveries', held.handler, { concurrency: 1 })
    await queues.enqueue('deliveries', [delivery('running'), delivery('waiting')])
    await waitUntil('it to run', () => held.started.length === 1)
    let ended = false
    const drained = consumer.drain({ timeoutMs: 10_000 }).finally(() => {
      ended = true
    })
    await queues.counts('deliveries')
    assert.equal(ended, false)
    assert.equal(consumer.running(), 1)
    held.open()
    assert.deepEqual(await drained, { abandoned: 0 })
    assert.deepEqual(held.started, ['running'])
    assert.deepEqual(await queues.counts('deliveries'), { waiting: 1, active: 0, delayed: 0 })
  })

  test('drain out of time aborts the signal, and a job handed back is taken by another consumer', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    let aborted = false
    const consumer = await queues.consume(
      'deliveries',
      async (_data, { signal }) => {
        await once(signal, 'abort')
        aborted = true
        return { again: { delayMs: 0 } }
      },
      { concurrency: 1 },
    )
    await queues.enqueue('deliveries', [delivery('long')])
    await waitUntil('it to run', () => consumer.running() === 1)
    assert.deepEqual(await consumer.drain({ timeoutMs: 50 }), { abandoned: 0 })
    assert.equal(aborted, true)
    const { handled, handler } = collector()
    await queues.consume('deliveries', handler, { concurrency: 1 })
    await waitUntil('the other consumer', () => handled.length === 1)
  })

  test('drain gives up a handler that ignores the abort, and says so', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const held = gate()
    const consumer = await queues.consume('deliveries', held.handler, { concurrency: 1 })
    await queues.enqueue('deliveries', [delivery('stubborn')])
    await waitUntil('it to run', () => held.started.length === 1)
    assert.deepEqual(await consumer.drain({ timeoutMs: 10 }), { abandoned: 1 })
    held.open()
    await waitUntil('its job to be finished all the same', () => isEmpty(queues))
  })

  test('drain ends a pause that still waits for a running job', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const held = gate()
    const consumer = await queues.consume('deliveries', held.handler, { concurrency: 1 })
    await queues.enqueue('deliveries', [delivery('running'), delivery('waiting')])
    await waitUntil('it to run', () => held.started.length === 1)
    const paused = consumer.pause()
    const drained = consumer.drain({ timeoutMs: 10_000 })
    held.open()
    await paused
    assert.deepEqual(await drained, { abandoned: 0 })
    assert.deepEqual(await queues.counts('deliveries'), { waiting: 1, active: 0, delayed: 0 })
  })

  test('after close every call is refused at once', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const { handler } = collector()
    await queues.consume('deliveries', handler, { concurrency: 1 })
    const lastMoment = queues.enqueue('deliveries', [delivery('last')])
    await Promise.all([queues.close(), queues.close()])
    await lastMoment
    const start = performance.now()
    const calls = [
      queues.enqueue('deliveries', [delivery('late')]),
      queues.consume('deliveries', handler, { concurrency: 1 }),
      queues.counts('deliveries'),
      queues.setAlarm('ticks', { id: 'late', rule: { everyMs: 1_000 }, data: { tool: 'late' } }),
      queues.removeAlarm('ticks', 'late'),
      queues.listAlarms('ticks'),
      queues.ping(),
      queues.boardQueues(['ticks']),
    ]
    for (const call of calls) await assert.rejects(call, isClosed)
    assert.ok(performance.now() - start < 100)
  })
}
