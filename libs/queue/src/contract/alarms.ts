import assert from 'node:assert/strict'
import { test } from 'node:test'
// sleeps because only time can show that nothing rings
import { setTimeout as delay } from 'node:timers/promises'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { MakeStore } from './store.ts'
import { done, openQueues, refused } from './store.ts'

export function testAlarms(makeStore: MakeStore): void {
  test('an alarm set three times is one, rings at its interval with its data, and stops when removed', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const rings: { tool: string; at: number }[] = []
    await queues.consume(
      'ticks',
      async ({ tool }) => {
        rings.push({ tool, at: Date.now() })
        return done
      },
      { concurrency: 4 },
    )
    const alarm = { id: 'weather', rule: { everyMs: 300 }, data: { tool: 'weather' } }
    for (let time = 0; time < 3; time += 1) await queues.setAlarm('ticks', alarm)
    assert.equal((await queues.listAlarms('ticks')).length, 1)
    await waitUntil('four rings', () => rings.length >= 4)
    const [first, , , fourth] = rings
    assert.ok(first && fourth && fourth.at - first.at >= 600, 'three settings must not ring three times')
    assert.ok(rings.every((ring) => ring.tool === 'weather'))
    await queues.removeAlarm('ticks', 'weather')
    assert.deepEqual(await queues.listAlarms('ticks'), [])
    await waitUntil('no ring to be left', async () => (await queues.counts('ticks')).delayed === 0)
    const ringCount = rings.length
    await delay(400)
    assert.equal(rings.length, ringCount)
  })

  test('a cron alarm keeps its time zone, and setting it anew replaces its rule', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const rule = { pattern: '0 9 * * *', timezone: 'America/New_York' }
    await queues.setAlarm('ticks', { id: 'morning', rule: { everyMs: 60_000 }, data: { tool: 'morning' } })
    await queues.setAlarm('ticks', { id: 'morning', rule, data: { tool: 'morning' } })
    const [alarm, ...others] = await queues.listAlarms('ticks')
    assert.equal(others.length, 0)
    assert.deepEqual({ id: alarm?.id, rule: alarm?.rule }, { id: 'morning', rule })
    const inNewYork = alarm?.nextAt?.toLocaleTimeString('en-GB', { timeZone: 'America/New_York' })
    assert.equal(inNewYork, '09:00:00')
    assert.equal((await queues.counts('ticks')).delayed, 1)
  })

  test('six fields count seconds', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    let rung = 0
    await queues.consume(
      'ticks',
      async () => {
        rung += 1
        return done
      },
      { concurrency: 1 },
    )
    await queues.setAlarm('ticks', {
      id: 'second',
      rule: { pattern: '* * * * * *', timezone: 'UTC' },
      data: { tool: 'second' },
    })
    await waitUntil('two rings', () => rung === 2, 3_500)
  })

  test('a rule that cannot be read, or never comes, is refused', async (t) => {
    const { queues } = openQueues(t, await makeStore(t))
    const cron = (pattern: string, timezone = 'UTC') => ({ pattern, timezone })
    const rules = [
      cron('*/30'),
      cron(''),
      cron('99 * * * *'),
      cron('a b c d e'),
      cron('0 0 30 2 *'),
      cron('0 9 * * *', 'Nowhere/City'),
      { everyMs: 0 },
      { everyMs: 1.5 },
    ]
    for (const rule of rules) {
      await assert.rejects(
        queues.setAlarm('ticks', { id: 'bad', rule, data: { tool: 'bad' } }),
        refused(/bad: /),
      )
    }
    assert.deepEqual(await queues.listAlarms('ticks'), [])
  })
}
