import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { separatePool } from '../fixtures/verifiers.ts'
import { startEpochWatch } from './epoch-watch.ts'

const { pool, url } = await testDatabase()
const fail = (error: unknown) => assert.fail(String(error))

test('a reading counts from when it began, not from when it came', async () => {
  const proxy = await stallableProxy(url)
  const own = separatePool(proxy.url)
  await own.query('select 1')
  let nowMs = 0
  proxy.stall()
  const watch = startEpochWatch({
    pool: own,
    onFailure: fail,
    monotonicMs: () => nowMs,
    intervalMs: 3_600_000,
  })
  assert.equal(watch.fresh(), undefined)
  nowMs = 1_900
  proxy.mend()
  await waitUntil('the reading came', () => watch.fresh())
  nowMs = 1_999
  assert.ok(watch.fresh())
  nowMs = 2_000
  assert.equal(watch.fresh(), undefined)
  await watch.close()
})

test('the epoch is read again and again, and the time it gives is that of the database', async () => {
  const watch = startEpochWatch({ pool, onFailure: fail, intervalMs: 10 })
  await waitUntil('a reading', () => watch.fresh())
  await pool.query('update access_epoch set epoch = 41')
  await waitUntil('the new epoch', () => watch.fresh()?.epoch === '41')
  const seen = watch.fresh()?.databaseNowMs ?? assert.fail()
  const { rows } = await pool.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
  )
  const actual = rows[0]?.ms ?? assert.fail()
  assert.ok(actual - seen < 200 && actual - seen > -200, `${actual - seen} ms apart`)
  await watch.close()
  assert.equal(watch.fresh(), undefined, 'a closed watch vouches for nothing')
})

test('an outage is told once, however often the reads fail, and a second outage again', async () => {
  const proxy = await stallableProxy(url)
  const own = separatePool(proxy.url)
  const failures: unknown[] = []
  let readCount = 0
  const watch = startEpochWatch({
    pool: own,
    onFailure: (error) => failures.push(error),
    intervalMs: 10,
    monotonicMs: () => {
      readCount += 1
      return performance.now()
    },
  })
  for (const outage of [1, 2]) {
    await waitUntil('a reading', () => watch.fresh())
    proxy.cut()
    await waitUntil('a failure', () => failures.length === outage)
    const before = readCount
    await waitUntil('several more reads', () => readCount > before + 20)
    assert.equal(failures.length, outage)
    proxy.mend()
    const healed = readCount
    await waitUntil('reads that succeed', () => readCount > healed + 20)
  }
  await watch.close()
})
