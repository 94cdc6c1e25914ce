import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '@toolyard/contract/scopes'
import { createPool } from '@toolyard/db/pool'
import { testDatabase } from '@toolyard/testkit/database'
import { makeKey, operator } from '../fixtures/keys.ts'
import { ensureAdminKey } from './ensure-admin-key.ts'
import { listAudit } from './list-audit.ts'
import { listKeys } from './list-keys.ts'
import { revokeKey } from './revoke-key.ts'

test('of many first starts at once, one makes the admin key', async () => {
  const { pool, url } = await testDatabase()
  const other = createPool({ url, max: 4, applicationName: 'toolyard-test', onIdleError: () => {} })
  const made = await Promise.all([pool, other, pool, other, pool, other].map((one) => ensureAdminKey(one)))
  await other.end()
  const [admin, ...more] = made.filter((one) => one !== undefined)
  assert.ok(admin)
  assert.equal(more.length, 0)
  assert.deepEqual(
    [admin.key.name, admin.key.scopes, admin.key.topics, admin.key.tools],
    ['admin', scopes, null, null],
  )
  assert.equal((await listKeys(pool, operator.actor)).keys.length, 1)
  const { entries } = await listAudit(pool, operator.actor)
  assert.deepEqual(
    entries.map((entry) => [entry.actor, entry.action]),
    [['operator', 'key.create']],
  )
})

test('a key that manages keys and works makes an admin key needless; revoked, expired and other keys do not', async () => {
  const { pool } = await testDatabase()
  await makeKey(pool, { scopes: ['tools:read'] })
  const manager = await makeKey(pool)
  assert.equal(await ensureAdminKey(pool), undefined)
  await revokeKey(pool, operator, manager.key.id)
  const admin = await ensureAdminKey(pool)
  assert.ok(admin)
  await pool.query("update api_keys set expires_at = now() - interval '1 second' where id = $1", [
    admin.key.id,
  ])
  assert.ok(await ensureAdminKey(pool))
  assert.equal(await ensureAdminKey(pool), undefined)
})
