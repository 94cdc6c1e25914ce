import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '@toolyard/contract/ids'
import { testDatabase } from '@toolyard/testkit/database'
import { makeKey, operator } from '../fixtures/keys.ts'
import { isAdminToken } from './is-admin-token.ts'
import { revokeKey } from './revoke-key.ts'
import { formatToken, newSecret } from './token.ts'

test('a working key that manages keys is one; revoked, expired, lesser, unknown and altered ones are not', async () => {
  const { pool } = await testDatabase()
  const { key, token } = await makeKey(pool)
  assert.equal(await isAdminToken(pool, token), true)
  const lesser = await makeKey(pool, { scopes: ['tools:read'] })
  const unknown = formatToken({ id: newId(), secret: newSecret() })
  const altered = formatToken({ id: key.id, secret: newSecret() })
  for (const text of [lesser.token, unknown, altered, '', token.slice(1), `${token}\0`])
    assert.equal(await isAdminToken(pool, text), false, text)
  await revokeKey(pool, operator, key.id)
  assert.equal(await isAdminToken(pool, token), false)
  const expired = await makeKey(pool)
  await pool.query("update api_keys set expires_at = now() - interval '1 second' where id = $1", [
    expired.key.id,
  ])
  assert.equal(await isAdminToken(pool, expired.token), false)
})
