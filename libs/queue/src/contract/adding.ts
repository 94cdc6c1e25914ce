import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { MakeStore } from './store.ts'
import { collector, delivery, done, isEmpty, openQueues, refused } from './store.ts'

export function testAdding(makeStore: MakeStore): void {
  test('a job is handled once with its data and its id, and is gone afterwards', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const seen: unknown[] = []
    await queues.enqueue('invocations', [{ id: 'inv_1-1', data: { invocationId: 'inv_1', attempt: 1 } }])
    await queues.consume(
      'invocations',
      async (data, { jobId }) => {
        seen.push({ data, jobId })
        return done
      },
      { concurrency: 1 },
    )
    await waitUntil('the job', () => seen.length > 0)
    assert.deepEqual(seen, [{ data: { invocationId: 'inv_1', attempt: 1 }, jobId: 'inv_1-1' }])
    await waitUntil('it to be gone', async () => (await queues.counts('invocations')).active === 0)
    assert.deepEqual(await queues.counts('invocations'), { waiting: 0, active: 0, delayed: 0 })
  })

  test('500 jobs in one call and 300 calls in one tick all arrive, in order, and every call settles', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const bulk = Array.from({ length: 500 }, (_, index) => `bulk_${index}`)
    const single = Array.from({ length: 300 }, (_, index) => `single_${index}`)
    await queues.enqueue('deliveries', bulk.map(delivery))
    const settled = await Promise.allSettled(single.map((id) => queues.enqueue('deliveries', [delivery(id)])))
    assert.ok(settled.every((one) => one.status === 'fulfilled'))
    assert.deepEqual(await queues.counts('deliveries'), { waiting: 800, active: 0, delayed: 0 })
    const { handled, handler } = collector()
    await queues.consume('deliveries', handler, { concurrency: 1 })
    await waitUntil('all jobs', () => handled.length === 800)
    assert.deepEqual(handled, [...bulk, ...single])
  })

  test('one refused call among many in a tick fails alone', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const good = queues.enqueue('deliveries', [delivery('good')])
    const bad = queues.enqueue('deliveries', [delivery('not:good')])
    const [first, second] = await Promise.allSettled([good, bad])
    assert.deepEqual([first.status, second.status], ['fulfilled', 'rejected'])
    assert.equal((await queues.counts('deliveries')).waiting, 1)
  })

  test('a higher priority goes first, 5 where none is given, equal ones in order', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    for (const [id, priority] of [
      ['low', 0],
      ['five_a', 5],
      ['nine', 9],
      ['one', 1],
    ] as const) {
      await queues.enqueue('deliveries', [{ ...delivery(id), priority }])
    }
    await queues.enqueue('deliveries', [delivery('five_b')])
    const { handled, handler } = collector()
    await queues.consume('deliveries', handler, { concurrency: 1 })
    await waitUntil('all jobs', () => handled.length === 5)
    assert.deepEqual(handled, ['nine', 'five_a', 'five_b', 'one', 'low'])
  })

  test('a delayed job waits its time and lets others pass', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const { handled, handler } = collector()
    await queues.consume('deliveries', handler, { concurrency: 1 })
    const start = performance.now()
    await queues.enqueue('deliveries', [{ ...delivery('later'), delayMs: 300 }, delivery('now')])
    assert.equal((await queues.counts('deliveries')).delayed, 1)
    await waitUntil('both', () => handled.length === 2)
    assert.deepEqual(handled, ['now', 'later'])
    // Clocks of two processes are compared to the millisecond, so one is allowed for.
    assert.ok(performance.now() - start >= 299)
  })

  test('an id is taken once while its job exists, with its first data, and free again afterwards', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const as = (deliveryId: string) => [{ id: 'same', data: { deliveryId } }]
    await queues.enqueue('deliveries', as('first'))
    await queues.enqueue('deliveries', as('second'))
    await Promise.all([queues.enqueue('deliveries', as('third')), queues.enqueue('deliveries', as('fourth'))])
    assert.equal((await queues.counts('deliveries')).waiting, 1)
    const { handled, handler } = collector()
    await queues.consume('deliveries', handler, { concurrency: 1 })
    await waitUntil('the queue to be empty', () => isEmpty(queues))
    await queues.enqueue('deliveries', as('fifth'))
    await waitUntil('the id to be used again', () => handled.length === 2)
    assert.deepEqual(handled, ['first', 'fifth'])
  })

  test('the same id twice in one call is one job', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    await queues.enqueue('deliveries', [delivery('same'), delivery('other'), delivery('same')])
    assert.equal((await queues.counts('deliveries')).waiting, 2)
  })

  test('the same jobs added in opposite orders by several at once are each there once', async (t) => {
    const store = await makeStore(t)
    const [one, other] = [openQueues(t, store), openQueues(t, store)]
    for (let round = 0; round < 5; round++) {
      const jobs = Array.from({ length: 300 }, (_, at) => delivery(`${round}_${at}`))
      await Promise.all([
        one.queues.enqueue('deliveries', jobs),
        other.queues.enqueue('deliveries', jobs.toReversed()),
      ])
    }
    assert.equal((await one.queues.counts('deliveries')).waiting, 1_500)
  })

  test('what is not an id, a small record of ids, a priority or a delay is refused before anything is added', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    for (const id of ['inv_01:2', '', '0', '1234', 'with space', 'x'.repeat(129)]) {
      await assert.rejects(
        queues.enqueue('deliveries', [delivery('fine'), { ...delivery('fine2'), id }]),
        refused(/job id/),
      )
    }
    const payloads: object[] = [
      {},
      { deliveryId: 7 },
      { deliveryId: '{"a":1}' },
      { deliveryId: 'x'.repeat(129) },
      { deliveryId: 'dlv_1', params: 'x' },
      { deliveryId: { nested: 'dlv_1' } },
    ]
    for (const data of payloads) {
      // safe because that it does not fit is what is tested
      const misfit = { id: 'misfit', data: data as { deliveryId: string } }
      await assert.rejects(queues.enqueue('deliveries', [misfit]), refused(/deliver|ids only/))
    }
    for (const priority of [-1, 10, 1.5]) {
      await assert.rejects(
        queues.enqueue('deliveries', [{ ...delivery('one'), priority }]),
        refused(/priority/),
      )
    }
    for (const delayMs of [-1, 0.5, Number.POSITIVE_INFINITY]) {
      await assert.rejects(
        queues.enqueue('deliveries', [{ ...delivery('one'), delayMs }]),
        refused(/delayMs/),
      )
    }
    await assert.rejects(queues.enqueue('images-a:b', []), refused(/no queue named/))
    assert.equal(await isEmpty(queues), true)
  })
}
