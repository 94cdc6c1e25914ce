import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '@toolyard/config/secret'
import type { Pool } from '@toolyard/db/pool'
import { testDatabase } from '@toolyard/testkit/database'
import { entry, vaultWith } from '../fixtures/vaults.ts'
import { refuseUnseenKey } from './refuse-unseen-key.ts'
import { VaultError } from './vault-error.ts'

const live = (pool: Pool, id: string, secondsAgo: number) =>
  pool.query(
    `insert into processes (id, kind, host, pid, ready, seen_at)
     values ($1, 'worker', 'h', 1, true, clock_timestamp() - make_interval(secs => $2))`,
    [id, secondsAgo],
  )

test('a new first key from the variable is refused while processes live, and never for another reason', async () => {
  const { pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  const keys = (...entries: string[]) => new Secret(entries.join())
  const fromFile = new Secret(`${b},${a}`, () => keys(b, a))
  await live(pool, 'running', 1)
  await refuseUnseenKey(pool, keys(b, a))
  await vaultWith(pool, a)
  await refuseUnseenKey(pool, undefined)
  await refuseUnseenKey(pool, fromFile)
  await refuseUnseenKey(pool, keys(a, b))
  await assert.rejects(refuseUnseenKey(pool, keys(b, a)), (error) => {
    assert.ok(error instanceof VaultError)
    assert.match(error.message, /begins with b, which is new to this vault, and processes are at work \(1\)/)
    assert.match(error.message, /put b behind the first key, restart every process, put it first and rotate/)
    assert.doesNotMatch(error.message, /(?<![\w-])[\w-]{43}(?![\w-])/)
    return true
  })
  // It was refused before the vault learned the key.
  assert.deepEqual((await pool.query('select id from vault_master_keys')).rows, [{ id: 'a' }])
  await pool.query("update processes set seen_at = clock_timestamp() - interval '16 seconds'")
  await refuseUnseenKey(pool, keys(b, a))
  await live(pool, 'restarted', 1)
  await assert.rejects(refuseUnseenKey(pool, keys(b, a)), VaultError)
  // As a process does that was restarted with the new key behind the old.
  await vaultWith(pool, a, b)
  await refuseUnseenKey(pool, keys(b, a))
})
