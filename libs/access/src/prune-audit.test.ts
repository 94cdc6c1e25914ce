import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '@toolyard/contract/ids'
import { testDatabase } from '@toolyard/testkit/database'
import { readsOf } from '@toolyard/testkit/plans'
import { rememberingPool } from '@toolyard/testkit/remembering-pool'
import { operator } from '../fixtures/keys.ts'
import { createKey } from './create-key.ts'
import { listAudit } from './list-audit.ts'
import { pruneAudit } from './prune-audit.ts'

const { pool, url } = await testDatabase()
const remembering = rememberingPool(url)
const dayMs = 24 * 3_600_000

async function note(target: string, idDays: number, atDays = idDays): Promise<void> {
  await pool.query(
    `insert into audit (id, at, actor, actor_name, action, target)
     values ($1, clock_timestamp() - $2 * interval '1 day', 'operator', '', 'test', $3)`,
    [newId(Date.now() - idDays * dayMs), atDays, target],
  )
}

const targets = async () =>
  (await listAudit(pool, operator.actor)).entries.map(({ target }) => target).toSorted()

test('what was noted longer ago than it is kept goes, and nothing else', async () => {
  await note('old', 31)
  await note('kept', 29)
  await note('wrong clock', 400, 2)
  const { key } = await createKey(pool, operator, { name: 'young', scopes: ['tools:read'] })
  assert.equal(await pruneAudit(pool, 30), 1)
  assert.deepEqual(await targets(), ['kept', `key:${key.id}`, 'wrong clock'])
  assert.equal(await pruneAudit(pool, 30), 0)
  assert.equal(await pruneAudit(pool, 10), 1)
})

test('more than a batch goes in one turn', async () => {
  await pool.query(
    `insert into audit (id, at, actor, actor_name, action, target)
     select '0' || to_char(n, 'FM0000000000000000000000000'), clock_timestamp() - interval '500 days', 'operator', '', 'test', 'many'
     from generate_series(1, 1100) as n`,
  )
  assert.equal(await pruneAudit(pool, 365), 1_100)
  assert.ok(!(await targets()).includes('many'))
})

test('what is old is found by the index, however much was noted since', async () => {
  await pool.query(
    `insert into audit (id, actor, actor_name, action, target)
     select 'z' || n, 'operator', '', 'test', 'crowd' from generate_series(1, 30000) as n`,
  )
  await pool.query('vacuum analyze audit')
  await pruneAudit(remembering.pool, 365)
  const statements = remembering.take().filter(({ text }) => text.includes('audit'))
  assert.equal(statements.length, 1)
  for (const statement of statements) {
    for (const [kind, reads] of Object.entries(await readsOf(pool, statement)))
      assert.deepEqual([...reads], ['index audit_pkey'], kind)
  }
})
