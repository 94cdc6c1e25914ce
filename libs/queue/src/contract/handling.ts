import assert from 'node:assert/strict'
import { test } from 'node:test'
// sleeps because a job has to last while others start
import { setTimeout as delay } from 'node:timers/promises'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { MakeStore } from './store.ts'
import { collector, delivery, done, gate, isEmpty, openQueues } from './store.ts'

export function testHandling(makeStore: MakeStore): void {
  test('two consumers each keep to their concurrency', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const peak = { one: 0, two: 0 }
    let handledCount = 0
    for (const [name, concurrency] of [
      ['one', 2],
      ['two', 3],
    ] as const) {
      let now = 0
      const handler = async () => {
        now += 1
        peak[name] = Math.max(peak[name], now)
        await delay(20)
        now -= 1
        handledCount += 1
        return done
      }
      await queues.consume('deliveries', handler, { concurrency })
    }
    await queues.enqueue(
      'deliveries',
      Array.from({ length: 40 }, (_, index) => delivery(`job_${index}`)),
    )
    await waitUntil('all jobs', () => handledCount === 40)
    assert.deepEqual(peak, { one: 2, two: 3 })
  })

  test('a handler that throws loses its job, is reported, and the consumer goes on', async (t) => {
    const { queues, errors } = openQueues(t, await makeStore(t))
    const handled: string[] = []
    await queues.consume(
      'deliveries',
      async ({ deliveryId }) => {
        if (deliveryId === 'bad') throw new Error('broken on purpose')
        handled.push(deliveryId)
        return done
      },
      { concurrency: 1 },
    )
    await queues.enqueue('deliveries', [delivery('bad'), delivery('good')])
    await waitUntil('the good one', () => handled.length === 1)
    await waitUntil('the queue to be empty', () => isEmpty(queues))
    const reported = errors.find((error) => /handler of job bad threw/.test(error.message))
    assert.match(String(reported?.cause), /broken on purpose/)
    await queues.enqueue('deliveries', [delivery('good2')])
    await waitUntil('the next one', () => handled.length === 2)
  })

  test('a job that a handler wants again comes back after its delay, as often as it says so', async (t) => {
    const { queues, errors } = openQueues(t, await makeStore(t))
    const times: number[] = []
    await queues.consume(
      'deliveries',
      async () => {
        times.push(Date.now())
        return times.length < 4 ? { again: { delayMs: times.length === 1 ? 0 : 100 } } : done
      },
      { concurrency: 1 },
    )
    await queues.enqueue('deliveries', [delivery('again')])
    await waitUntil('the fourth time', () => times.length === 4)
    await waitUntil('the queue to be empty', () => isEmpty(queues))
    const [, second = 0, third = 0, fourth = 0] = times
    assert.ok(third - second >= 99 && fourth - third >= 99, `came back too early: ${times.join()}`)
    assert.deepEqual(errors, [])
  })

  test('a consumer that waits for a job again goes on with other jobs meanwhile', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const order: string[] = []
    await queues.consume(
      'deliveries',
      async ({ deliveryId }) => {
        order.push(deliveryId)
        return order.length === 1 ? { again: { delayMs: 200 } } : done
      },
      { concurrency: 1 },
    )
    await queues.enqueue('deliveries', [delivery('first'), delivery('other')])
    await waitUntil('three runs', () => order.length === 3)
    assert.deepEqual(order, ['first', 'other', 'first'])
  })

  test('a paused consumer takes nothing until it is resumed', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const { handled, handler } = collector()
    const consumer = await queues.consume('deliveries', handler, { concurrency: 2 })
    await queues.enqueue('deliveries', [delivery('before')])
    await waitUntil('the first', () => handled.length === 1)
    await Promise.all([consumer.pause(), consumer.pause()])
    await queues.enqueue('deliveries', [delivery('while')])
    const second = await queues.consume('ticks', async () => done, { concurrency: 1 })
    await second.drain({ timeoutMs: 1_000 })
    assert.deepEqual(handled, ['before'])
    assert.equal((await queues.counts('deliveries')).waiting, 1)
    await consumer.resume()
    await waitUntil('the second', () => handled.length === 2)
    await queues.enqueue('deliveries', [delivery('after')])
    await waitUntil('the third', () => handled.length === 3)
  })

  test('resuming while a pause still waits for a running job takes jobs again', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const held = gate()
    const consumer = await queues.consume('deliveries', held.handler, { concurrency: 1 })
    await queues.enqueue('deliveries', [delivery('held')])
    await waitUntil('it to run', () => held.started.length === 1)
    const paused = consumer.pause()
    const resumed = consumer.resume()
    held.open()
    await Promise.all([paused, resumed])
    await queues.enqueue('deliveries', [delivery('next')])
    await waitUntil('the next', () => held.started.length === 2)
  })
}
