import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@toolyard/testkit/database'
import { operator } from '../fixtures/keys.ts'
import { createKey } from './create-key.ts'
import { listKeys } from './list-keys.ts'
import { pruneKeys } from './prune-keys.ts'

test('keys that ended longer ago than they are kept go, with their secret, and no other', async () => {
  const { pool } = await testDatabase()
  const make = async (name: string, ends: { revoked?: number; expired?: number } = {}) => {
    const { key } = await createKey(pool, operator, { name, scopes: ['tools:read'] })
    await pool.query(
      `update api_keys set revoked_at = now() - make_interval(days => $2), expires_at = now() - make_interval(days => $3)
       where id = $1`,
      [key.id, ends.revoked ?? null, ends.expired ?? null],
    )
    await pool.query('insert into callback_secrets (key_id) values ($1)', [key.id])
    return key.id
  }
  await make('works')
  await make('works for long', { expired: -400 })
  await make('just revoked', { revoked: 364, expired: -10 })
  await make('just expired', { expired: 364 })
  await make('revoked', { revoked: 366 })
  await make('expired', { expired: 366 })
  await make('revoked before it expired', { revoked: 366, expired: 1 })
  const owner = await make('owner', { revoked: 366 })
  await pool.query(
    `insert into webhooks (id, key_id, url, description, events)
     values ('whk_1', $1, 'https://hooks.example.com/', '', '{invocation.succeeded}')`,
    [owner],
  )
  assert.equal(await pruneKeys(pool, 365), 3)
  const { keys } = await listKeys(pool, operator.actor)
  assert.deepEqual(
    keys.map(({ name }) => name),
    ['owner', 'just expired', 'just revoked', 'works for long', 'works'],
  )
  const secrets = await pool.query<{ key_id: string }>(
    'select key_id from callback_secrets order by key_id desc',
  )
  assert.deepEqual(
    secrets.rows.map((row) => row.key_id),
    keys.map(({ id }) => id),
  )
  assert.equal(await pruneKeys(pool, 365), 0)
})
