import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { tryLock } from './advisory-lock.ts'

const { pool } = await testDatabase()

test('one holds a lock, and the next gets it when it is given back', async () => {
  const first = await tryLock(pool, 'a')
  assert.ok(first)
  assert.equal(await tryLock(pool, 'a'), undefined)
  const other = await tryLock(pool, 'b')
  assert.ok(other, 'a lock of another name is another lock')
  await first.release()
  const second = await tryLock(pool, 'a')
  assert.ok(second)
  assert.equal(first.signal.aborted, false)
  await second.release()
  await other.release()
})

test('a holder whose connection breaks is told, and the lock is free', async () => {
  const lock = await tryLock(pool, 'c')
  assert.ok(lock)
  await pool.query(`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and pid <> pg_backend_pid() and database = (select oid from pg_database where datname = current_database())`)
  await waitUntil('the holder is told', () => lock.signal.aborted)
  await lock.release()
  const next = await waitUntil('the lock is free', () => tryLock(pool, 'c'))
  await next.release()
})

test('twenty who ask at once: one gets it, and no connection is lost', async () => {
  const asked = await Promise.all(Array.from({ length: 20 }, () => tryLock(pool, 'd')))
  const held = asked.filter((lock) => lock !== undefined)
  assert.equal(held.length, 1)
  await held[0]?.release()
  assert.equal(pool.idleCount, pool.totalCount)
})
