import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditEntryShape } from '@toolyard/contract/keys'
import { testDatabase } from '@toolyard/testkit/database'
import { callBy, makeKey, manager, operator } from '../fixtures/keys.ts'
import { createKey } from './create-key.ts'
import { listAudit, toAuditEntryShape } from './list-audit.ts'
import { revokeKey } from './revoke-key.ts'

test('a bound key sees what was done by or to keys within its reach, and no actor beyond it', async () => {
  const { pool } = await testDatabase()
  const admin = await makeKey(pool, { name: 'admin-canary', scopes: manager })
  const bound = await createKey(pool, callBy(admin), { name: 'bound', scopes: manager, topics: ['a'] })
  const child = await createKey(pool, callBy(bound), { name: 'child', scopes: ['tools:read'], topics: ['a'] })
  const foreign = await createKey(pool, callBy(admin), {
    name: 'foreign-canary',
    scopes: manager,
    topics: ['b'],
  })
  await revokeKey(pool, callBy(foreign), foreign.key.id)

  const seen = (await listAudit(pool, callBy(bound).actor)).entries
  assert.deepEqual(
    new Set(seen.map((entry) => [entry.actor, entry.actor_name, entry.action, entry.target].join())),
    new Set([
      `key:${bound.key.id},bound,key.create,key:${child.key.id}`,
      `beyond,,key.create,key:${bound.key.id}`,
    ]),
  )
  const text = JSON.stringify(seen)
  for (const hidden of [admin.key.id, foreign.key.id, 'canary', 'operator'])
    assert.ok(!text.includes(hidden), hidden)

  const all = (await listAudit(pool, callBy(admin).actor)).entries
  assert.equal(all.length, 5)
  assert.deepEqual(all, (await listAudit(pool, operator.actor)).entries)
  for (const entry of all) auditEntryShape.parse(toAuditEntryShape(entry))
})

test('pages of the audit join without gap or repetition', async () => {
  const { pool } = await testDatabase()
  const admin = await makeKey(pool, { scopes: manager })
  const bound = await createKey(pool, callBy(admin), { name: 'bound', scopes: manager, topics: ['a'] })
  for (let i = 0; i < 5; i++) {
    await createKey(pool, callBy(admin), { name: 'other', scopes: manager })
    await createKey(pool, callBy(bound), { name: 'mine', scopes: ['tools:read'], topics: ['a'] })
  }
  for (const [actor, count] of [
    [operator.actor, 12],
    [callBy(bound).actor, 6],
  ] as const) {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await listAudit(pool, actor, { cursor, limit: 2 })
      seen.push(...page.entries.map((entry) => entry.id))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    assert.equal(seen.length, count)
    assert.deepEqual(seen, [...new Set(seen)].toSorted().toReversed())
  }
})
