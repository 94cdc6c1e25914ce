import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { testDatabase } from '@toolyard/testkit/database'
import { callBy, makeKey, manager, operator } from '../fixtures/keys.ts'
import { getKey } from './get-key.ts'
import { listAudit } from './list-audit.ts'
import { revokeKey } from './revoke-key.ts'

const { pool } = await testDatabase()
const hasCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

test('revoking twice keeps the first moment, and the audit tells the two apart', async () => {
  const admin = await makeKey(pool, { name: 'admin' })
  const made = await makeKey(pool, { name: 'leaked' })
  const first = await revokeKey(pool, callBy(admin, 'req_a'), made.key.id)
  const second = await revokeKey(pool, callBy(admin, 'req_b'), made.key.id)
  assert.ok(first.revokedAt)
  assert.deepEqual(second.revokedAt, first.revokedAt)
  const { entries } = await listAudit(pool, operator.actor, { limit: 200 })
  const ofThis = entries.filter(
    (entry) => entry.target === `key:${made.key.id}` && entry.action === 'key.revoke',
  )
  assert.deepEqual(
    new Set(
      ofThis.map((entry) =>
        [entry.request_id, entry.actor, entry.actor_name, entry.detail['was_revoked']].join(),
      ),
    ),
    new Set([`req_a,key:${admin.key.id},admin,false`, `req_b,key:${admin.key.id},admin,true`]),
  )
})

test('a key may revoke one that may do more, and itself', async () => {
  const strong = await makeKey(pool, { scopes: [...manager, 'ops:view'] })
  const weak = await makeKey(pool)
  assert.ok((await revokeKey(pool, callBy(weak), strong.key.id)).revokedAt)
  assert.ok((await revokeKey(pool, callBy(weak), weak.key.id)).revokedAt)
})

test('two keys that revoke each other do not deadlock: one of them is stopped', async () => {
  for (let round = 0; round < 5; round++) {
    const one = await makeKey(pool)
    const other = await makeKey(pool)
    const results = await Promise.allSettled([
      revokeKey(pool, callBy(one), other.key.id),
      revokeKey(pool, callBy(other), one.key.id),
    ])
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    assert.equal(failures.length, 1)
    assert.ok(hasCode('unauthenticated')(failures[0]), String(failures[0]))
  }
})

test('an id that is none is a key that does not exist', async () => {
  for (const id of ['', 'nothing', '%', "' or true --", 'x'.repeat(10_000), '\0', '0'.repeat(26)]) {
    await assert.rejects(getKey(pool, operator.actor, id), hasCode('not_found'))
    await assert.rejects(revokeKey(pool, operator, id), hasCode('not_found'))
  }
})
