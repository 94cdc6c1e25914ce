import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { testDatabase } from '@toolyard/testkit/database'
import { callBy, makeKey, operator } from '../fixtures/keys.ts'
import { getKey } from './get-key.ts'
import { listKeys } from './list-keys.ts'
import { revokeKey } from './revoke-key.ts'

const hasCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

test('pages go from the newest to the oldest, without gap or repetition while keys are being made', async () => {
  const { pool } = await testDatabase()
  for (let i = 0; i < 7; i++) await makeKey(pool, { name: `old ${i}` })
  const all = (await listKeys(pool, operator.actor)).keys
  assert.equal(all.length, 7)
  assert.deepEqual(
    all.map((key) => key.id),
    all
      .map((key) => key.id)
      .toSorted()
      .toReversed(),
  )

  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await listKeys(pool, operator.actor, { cursor, limit: 3 })
    assert.ok(page.keys.length <= 3)
    seen.push(...page.keys.map((key) => key.id))
    cursor = page.nextCursor ?? undefined
    await makeKey(pool, { name: 'made meanwhile' })
  } while (cursor !== undefined)
  assert.deepEqual(
    seen,
    all.map((key) => key.id),
  )
})

test('a page that is exactly full has no next one', async () => {
  const { pool } = await testDatabase()
  for (let i = 0; i < 2; i++) await makeKey(pool)
  assert.equal((await listKeys(pool, operator.actor, { limit: 2 })).nextCursor, null)
  assert.notEqual((await listKeys(pool, operator.actor, { limit: 1 })).nextCursor, null)
})

test('a limit or cursor out of bounds is refused, not bent', async () => {
  const { pool } = await testDatabase()
  for (const limit of [0, -1, 201, 1.5, Number.NaN]) {
    await assert.rejects(listKeys(pool, operator.actor, { limit }), hasCode('invalid_request'))
  }
  for (const cursor of ['', 'x', "' or 1=1", '\0'.repeat(26), 'A'.repeat(26)]) {
    await assert.rejects(listKeys(pool, operator.actor, { cursor }), hasCode('invalid_request'))
  }
})

test('a bound key lists, reads and revokes the keys within its bindings and learns nothing of others', async () => {
  const { pool } = await testDatabase()
  const admin = await makeKey(pool, { name: 'admin' })
  const bound = await makeKey(pool, { name: 'bound', topics: ['a', 'b'], tools: ['x'] })
  const inside = await makeKey(pool, { name: 'inside', topics: ['b'], tools: ['x'] })
  const outside = [
    admin,
    await makeKey(pool, { name: 'other topic', topics: ['a', 'c'], tools: ['x'] }),
    await makeKey(pool, { name: 'other tool', topics: ['a'], tools: ['y'] }),
    await makeKey(pool, { name: 'all topics', tools: ['x'] }),
    await makeKey(pool, { name: 'all tools', topics: ['a'] }),
  ]
  const { actor } = callBy(bound)
  const listed = await listKeys(pool, actor)
  assert.deepEqual(
    listed.keys.map((key) => key.name),
    ['inside', 'bound'],
  )
  assert.equal(listed.nextCursor, null)
  assert.equal((await getKey(pool, actor, inside.key.id)).name, 'inside')
  for (const { key } of outside) {
    await assert.rejects(getKey(pool, actor, key.id), hasCode('not_found'))
    await assert.rejects(revokeKey(pool, callBy(bound), key.id), hasCode('not_found'))
    assert.equal((await getKey(pool, operator.actor, key.id)).revokedAt, null)
  }
  assert.notEqual((await revokeKey(pool, callBy(bound), inside.key.id)).revokedAt, null)
  // The hidden ones do not even show as a page that ends too early.
  const paged = await listKeys(pool, actor, { limit: 1 })
  const rest = await listKeys(pool, actor, { limit: 1, cursor: paged.nextCursor ?? undefined })
  assert.deepEqual(
    [...paged.keys, ...rest.keys].map((key) => key.name),
    ['inside', 'bound'],
  )
  assert.equal(rest.nextCursor, null)
})

test('without keys:manage nothing is listed, read or revoked', async () => {
  const { pool } = await testDatabase()
  const made = await makeKey(pool, { scopes: ['ops:view'] })
  const call = callBy(made)
  await assert.rejects(listKeys(pool, call.actor), hasCode('missing_scope'))
  await assert.rejects(getKey(pool, call.actor, made.key.id), hasCode('missing_scope'))
  await assert.rejects(revokeKey(pool, call, made.key.id), hasCode('missing_scope'))
})
