import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { AnnouncedEvent } from '@toolyard/invocations/announce'
import { testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { createPool } from '@toolyard/db/pool'
import type { LeaseOptions } from './hold-leases.ts'
import { holdLeases } from './hold-leases.ts'

const { pool, url } = await testDatabase()

const insert = `
  insert into invocations (id, tool, topic, status, gate, priority, due_at, not_before, expires_at, submitted_hash,
    attempts, attempt_token, lease_until)
  values ($1, 'tool', 'topic', 'running', 'open', 5, now(), now(), now() + interval '1 hour', 'h', 1,
    gen_random_uuid(), now() + interval '1 second')
  returning id, attempt_token as token`

let made = 0

async function runningRow(): Promise<{ id: string; token: string }> {
  made += 1
  const { rows } = await pool.query<{ id: string; token: string }>(insert, [`inv_${made}`])
  const [row] = rows
  assert.ok(row)
  return row
}

/** Leases whose turns are the test's own, with a clock that the test sets. */
function open(t: TestContext, more: Partial<LeaseOptions> = {}) {
  let nowMs = 0
  const lost: string[] = []
  const hears = new Map<string, (event: AnnouncedEvent) => void>()
  const leases = holdLeases({
    pool,
    worker: () => ({ workerId: 'w1', engineId: 'e1', slots: 8 }),
    watcher: {
      watch(id, hear) {
        hears.set(id, hear)
        return () => void hears.delete(id)
      },
    },
    onLost: (reason) => void lost.push(reason),
    onFailure: () => {},
    now: () => nowMs,
    everyMs: 3_600_000,
    ...more,
  })
  t.after(() => leases.close())
  return {
    leases,
    lost,
    hears,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

const leaseOf = async (id: string) => {
  const found = await pool.query<{ s: number }>(
    'select extract(epoch from lease_until - clock_timestamp())::float as s from invocations where id = $1',
    [id],
  )
  return found.rows[0]?.s ?? 0
}

test('one statement renews all that is held and registers the slots, also with nothing held', async (t) => {
  const { leases } = open(t)
  const rows = await Promise.all([runningRow(), runningRow()])
  const held = rows.map((row) => leases.hold(row, 0))
  await leases.renew()
  for (const { id } of rows) assert.ok((await leaseOf(id)) > 25)
  assert.ok(held.every(({ signal }) => !signal.aborted))
  for (const one of held) one.release()
  assert.equal(leases.count(), 0)
  await pool.query('update workers set slots = 0')
  await leases.renew()
  assert.deepEqual((await pool.query('select id, engine_id, slots from workers')).rows, [
    { id: 'w1', engine_id: 'e1', slots: 8 },
  ])
})

test('a lost row, a cancelled one and a finished one are each told apart', async (t) => {
  const { leases, lost } = open(t)
  const rows = await Promise.all([runningRow(), runningRow(), runningRow(), runningRow()])
  const [taken, cancelled, finished, kept] = rows.map((row) => leases.hold(row, 0))
  await pool.query('update invocations set attempt_token = gen_random_uuid() where id = $1', [rows[0]?.id])
  await pool.query('update invocations set cancel_requested_at = now() where id = $1', [rows[1]?.id])
  finished?.settle()
  await pool.query('update invocations set attempt_token = gen_random_uuid() where id = $1', [rows[2]?.id])
  await leases.renew()
  const reasons = [taken, cancelled, finished, kept].map((one) => one?.stopReason())
  assert.deepEqual(reasons, ['lost', 'cancel', undefined, undefined])
  assert.deepEqual(lost, ['lost'])
})

test('a cancel that is told acts at once, and the first reason stands', async (t) => {
  const { leases, hears } = open(t)
  const row = await runningRow()
  const held = leases.hold(row, 0)
  hears.get(row.id)?.('started')
  assert.equal(held.signal.aborted, false)
  hears.get(row.id)?.('cancel_requested')
  assert.deepEqual([held.signal.aborted, held.signal.reason], [true, 'cancel'])
  leases.stop('all')
  assert.equal(held.stopReason(), 'cancel')
  held.release()
  assert.equal(hears.size, 0)
})

test('after 25 s of silence by the monotonic clock all is stopped, counted from before the asking (L1, L2)', async (t) => {
  const { leases, pass, lost } = open(t)
  const [early, late] = [await runningRow(), await runningRow()]
  pass(10_000)
  // Asked for at 3 s, answered at 10 s.
  const first = leases.hold(early, 3_000)
  const second = leases.hold(late, 10_000)
  pass(17_400)
  await waitUntil('a check', async () => {
    pass(1)
    return first.signal.aborted
  })
  assert.equal(first.stopReason(), 'unrenewed')
  assert.equal(second.stopReason(), undefined)
  assert.equal(leases.part().state, 'unreachable')
  await leases.renew()
  pass(20_000)
  assert.equal(second.stopReason(), undefined)
  pass(5_000)
  await waitUntil('a check', () => second.signal.aborted)
  assert.deepEqual(lost, ['unrenewed', 'unrenewed'])
})

test('what is over is still renewed, and neither silence nor a drain stops it (L3)', async (t) => {
  const { leases, pass } = open(t)
  const row = await runningRow()
  const held = leases.hold(row, 0)
  held.settle()
  await leases.renew()
  assert.ok((await leaseOf(row.id)) > 25)
  pass(100_000)
  leases.stop('all')
  const other = leases.hold(await runningRow(), 0)
  await waitUntil('a check', () => other.signal.aborted)
  assert.equal(held.signal.aborted, false)
})

test('a drain spares what must not run twice until the end, and stops what is claimed meanwhile', async (t) => {
  const { leases } = open(t)
  const [plain, careful] = [leases.hold(await runningRow(), 0), leases.hold(await runningRow(), 0)]
  careful.protect()
  leases.stop('unprotected')
  const late = leases.hold(await runningRow(), 0)
  assert.deepEqual(
    [plain.stopReason(), careful.stopReason(), late.stopReason()],
    ['drain', undefined, 'drain'],
  )
  leases.stop('all')
  assert.equal(careful.stopReason(), 'drain')
})

test('a row that is claimed anew by the same worker stops the attempt before, and only that', async (t) => {
  const { leases } = open(t)
  const row = await runningRow()
  const before = leases.hold(row, 0)
  const { rows } = await pool.query<{ token: string }>(
    'update invocations set attempt_token = gen_random_uuid() where id = $1 returning attempt_token as token',
    [row.id],
  )
  const after = leases.hold({ id: row.id, token: rows[0]?.token ?? '' }, 0)
  await leases.renew()
  assert.deepEqual([before.stopReason(), after.stopReason()], ['lost', undefined])
  before.release()
  assert.equal(leases.count(), 1)
})

test('without an engine what is held is renewed, and the slots count for nothing', async (t) => {
  let isThere = true
  const worker = () => (isThere ? { workerId: 'w2', engineId: 'e1', slots: 8 } : undefined)
  const { leases } = open(t, { worker })
  const row = await runningRow()
  const held = leases.hold(row, 0)
  await leases.renew()
  isThere = false
  await leases.renew()
  const slots = async () => (await pool.query("select slots from workers where id = 'w2'")).rows
  assert.deepEqual(await slots(), [{ slots: 0 }])
  held.release()
  await pool.query("delete from workers where id = 'w2'")
  await leases.renew()
  assert.deepEqual(await slots(), [], 'who holds nothing and can run nothing is no worker')
})

test('an attempt that is over its time and does not end makes its worker unready', async (t) => {
  const { leases, pass } = open(t)
  const held = leases.hold(await runningRow(), 0)
  held.expectEndWithin(9_000)
  pass(8_000)
  assert.equal(leases.part().state, 'ready')
  pass(1_000)
  assert.equal(leases.part().state, 'unfit')
  held.settle()
  assert.equal(leases.part().state, 'ready')
})

test('a connection that is dead without saying so holds up no further renewal', async (t) => {
  const proxy = await stallableProxy(url)
  const through = createPool({ url: proxy.url, max: 5, applicationName: 'test', onIdleError: () => {} })
  t.after(() => through.end())
  const { leases } = open(t, { pool: through, now: () => performance.now(), everyMs: 100 })
  const row = await runningRow()
  const held = leases.hold(row, performance.now())
  await waitUntil('a renewal', async () => (await leaseOf(row.id)) > 25)
  proxy.stall()
  await assert.rejects(leases.renew(), /not renewed within 5000 ms/)
  proxy.mend()
  await waitUntil('it to be renewed again', async () => (await leaseOf(row.id)) > 29)
  assert.equal(held.signal.aborted, false)
})
