import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPrefixedId } from '@toolyard/contract/ids'
import { transaction } from '@toolyard/db/transaction'
import { success } from '../fixtures/outcomes.ts'
import { makeWorld, runningOne, submissionOf, submitOne } from '../fixtures/world.ts'
import { finish } from './finish.ts'
import { hashBody } from './hash-body.ts'
import { prune } from './prune.ts'
import { createSubmitter } from './submitter.ts'

const { pool, deps } = await makeWorld()
const dayMs = 24 * 3_600_000
const retention = { invocationDays: 30, rawDays: 7 }

const tables = [
  'invocations',
  'invocation_inputs',
  'invocation_outcomes',
  'invocation_raws',
  'attempts',
] as const
const keyOf = (table: string) => (table === 'attempts' ? 'invocation_id' : 'id')

/** As if it had been made, and had ended, so many days ago. */
async function age(id: string, days: number): Promise<string> {
  const old = newPrefixedId('inv', Date.now() - days * dayMs)
  for (const table of tables)
    await pool.query(`update ${table} set ${keyOf(table)} = $2 where ${keyOf(table)} = $1`, [id, old])
  await pool.query("update invocations set finished_at = finished_at - $2 * interval '1 day' where id = $1", [
    old,
    days,
  ])
  await pool.query("update invocation_raws set stored_at = stored_at - $2 * interval '1 day' where id = $1", [
    old,
    days,
  ])
  return old
}

async function finished(): Promise<string> {
  const hold = await runningOne(deps)
  const raw = { stdout: Buffer.from('out'), stderrTail: Buffer.from('err') }
  await finish(deps, { hold, outcome: success, raw })
  return hold.id
}

const traces = async (id: string) => {
  const found = await Promise.all(
    tables.map(
      async (table) => (await pool.query(`select 1 from ${table} where ${keyOf(table)} = $1`, [id])).rowCount,
    ),
  )
  return found.join('')
}

test('after 30 days nothing is left of what has ended, raw output goes after 7, and what has not ended stays', async () => {
  const fresh = await age(await finished(), 6.9)
  const older = await age(await finished(), 7.1)
  const kept = await age(await finished(), 29.9)
  const gone = await age(await finished(), 30.1)
  const waiting = await age((await submitOne(deps)).id, 40)
  const running = await age((await runningOne(deps)).id, 40)
  assert.deepEqual(await prune(pool, retention), { invocations: 1, raws: 2, keys: 0 })
  assert.deepEqual(await Promise.all([fresh, older, kept, gone, waiting, running].map(traces)), [
    '11111',
    '11101',
    '11101',
    '00000',
    '11000',
    '11001',
  ])
})

test('what was made long ago and has just ended is kept', async () => {
  const id = await age(await finished(), 60)
  await pool.query('update invocations set finished_at = clock_timestamp() where id = $1', [id])
  await prune(pool, retention)
  assert.equal((await traces(id)).startsWith('111'), true)
})

test('idempotency keys go when their day is over, workers when they were not seen for one', async () => {
  const { submit } = createSubmitter(deps)
  for (const key of ['old', 'new'])
    await submit(submissionOf({ idempotency: { key, bodyHash: hashBody({}) } }))
  await pool.query("update idempotency set expires_at = clock_timestamp() where key = 'old'")
  await pool.query(
    "insert into workers values ('gone', 'e', 1, clock_timestamp() - interval '25 hours'), ('late', 'e', 1, clock_timestamp() - interval '1 hour')",
  )
  assert.equal((await prune(pool, retention)).keys, 1)
  assert.deepEqual((await pool.query('select key from idempotency')).rows, [{ key: 'new' }])
  assert.deepEqual((await pool.query('select id from workers order by id')).rows, [
    { id: 'late' },
    { id: 'worker-1' },
  ])
})

test('more than a batch goes in one turn, past rows that stay', async () => {
  const insert = `
    insert into invocations (id, tool, topic, status, final_status, gate, priority, created_at, due_at, not_before,
      expires_at, submitted_hash, finished_at)
    select 'inv_0' || to_char(n, 'FM00000000000000000000000'), 'weather', 'old', 'failed', 'failed', 'closed', 5, at, at, at, at, 'x',
      case when n % 3 = 0 then clock_timestamp() else at end
    from (select n, clock_timestamp() - interval '50 days' as at from generate_series(1, 900) as n) as made`
  await pool.query(insert)
  assert.equal((await prune(pool, retention)).invocations, 600)
  const left = await pool.query("select 1 from invocations where topic = 'old'")
  assert.equal(left.rowCount, 300)
  assert.equal((await prune(pool, retention)).invocations, 0)
})

test('how long is the caller’s to say', async () => {
  const id = await age(await finished(), 3)
  await prune(pool, { invocationDays: 4, rawDays: 2 })
  assert.equal(await traces(id), '11101')
  await prune(pool, { invocationDays: 2, rawDays: 2 })
  assert.equal(await traces(id), '00000')
})

test('a row that somebody holds is left for the next turn, and nobody waits', async () => {
  const [held, free] = [await age(await finished(), 40), await age(await finished(), 40)]
  await transaction(pool, async (sql) => {
    await sql.query('select 1 from invocations where id = $1 for update', [held])
    assert.equal((await prune(pool, retention)).invocations, 1)
  })
  assert.equal(await traces(free), '00000')
  assert.equal((await prune(pool, retention)).invocations, 1)
})
