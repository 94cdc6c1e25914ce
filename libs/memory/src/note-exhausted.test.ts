import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction } from '@toolyard/db/transaction'
import { testDatabase } from '@toolyard/testkit/database'
import { closedOne } from '../fixtures/ground.ts'
import type { Exhausted } from './note-exhausted.ts'
import { noteExhausted } from './note-exhausted.ts'
import { recordOutcomes } from './record-outcomes.ts'

const { pool } = await testDatabase()

/** Calls of this tool that ended just now, or on another day. */
const spendOn = (tool: string, calls: number, finishedAt = new Date()) =>
  transaction(pool, (sql) =>
    recordOutcomes(
      sql,
      Array.from({ length: calls }, () => closedOne({ tool, finishedAt })),
    ),
  )

async function told(limits: Record<string, number>): Promise<Exhausted[]> {
  const all: Exhausted[] = []
  await noteExhausted(pool, new Map(Object.entries(limits)), async (_, one) => void all.push(one))
  return all
}

test('a budget that is used up is told once, with what was spent and when there is a fresh one', async () => {
  await spendOn('metered', 2)
  assert.deepEqual(await told({ metered: 3, unknown: 1 }), [])
  await spendOn('metered', 2)
  const [one, ...others] = await told({ metered: 3, unknown: 1 })
  assert.deepEqual([one?.tool, one?.spent, one?.limit, others.length], ['metered', 4, 3, 0])
  assert.match(one?.resetsAt.toISOString() ?? '', /T00:00:00\.000Z$/)
  await spendOn('metered', 1)
  assert.deepEqual(await told({ metered: 3 }), [])
})

test('of several processes that look at once one tells', async () => {
  await spendOn('shared', 5)
  const all = await Promise.all(Array.from({ length: 8 }, () => told({ shared: 5 })))
  assert.equal(all.flat().length, 1)
})

test('what cannot be told is told the next time', async () => {
  await spendOn('unlucky', 1)
  await assert.rejects(
    noteExhausted(pool, new Map([['unlucky', 1]]), () => Promise.reject(new Error('no room'))),
    /no room/,
  )
  assert.equal((await told({ unlucky: 1 })).length, 1)
})

test('what was spent yesterday is nothing to tell, and another day is another budget', async () => {
  await spendOn('old', 9, new Date(Date.now() - 86_400_000))
  assert.deepEqual(await told({ old: 1 }), [])
  await spendOn('old', 1)
  assert.equal((await told({ old: 1 })).length, 1)
  await pool.query("update tool_memory set budget_told_on = budget_told_on - 1 where tool = 'old'")
  assert.equal((await told({ old: 1 })).length, 1)
})
