import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey } from '@toolyard/access/create-key'
import { publishScan } from '@toolyard/catalog/publish-scan'
import { minimalManifest } from '@toolyard/contract/fixtures/minimal-manifest'
import type { Pool } from '@toolyard/db/pool'
import type { Queues } from '@toolyard/queue/queues'
import { testDatabase } from '@toolyard/testkit/database'
import { tellExhaustedBudgets } from './tell-exhausted-budgets.ts'

const { pool } = await testDatabase()

/** A tool that serves, and has spent so much today. */
async function makeTool(name: string, spent: number, constraints: { cost_budget?: number }): Promise<void> {
  const scan = {
    tools: [{ name, hash: name, manifest: minimalManifest(name, { constraints }) }],
    faults: [],
    unsettled: [],
    isPartial: true,
  }
  await publishScan(pool, { processId: 'w', engineId: 'e1', reload: 0, contentHash: 'c', scan })
  await pool.query('update tools set current_hash = $1 where name = $1', [name])
  await pool.query(
    `insert into tool_memory (tool, budget_day, budget_spent)
     values ($1, (clock_timestamp() at time zone 'UTC')::date, $2)`,
    [name, spent],
  )
}

async function addWebhook(of: Pool): Promise<void> {
  const operator = { actor: { kind: 'operator' } } as const
  const { key } = await createKey(of, operator, { name: 'a', scopes: ['webhooks:manage'] })
  await of.query(
    `insert into webhooks (id, key_id, url, description, events)
     values ('whk_1', $1, 'https://hooks.example.com/', '', '{tool.budget_exhausted}')`,
    [key.id],
  )
}

test('who asked for it is told once of a tool that has used up its budget, and its job comes to the queue', async () => {
  await addWebhook(pool)
  await makeTool('spent', 3, { cost_budget: 3 })
  await makeTool('frugal', 2, { cost_budget: 3 })
  await makeTool('boundless', 9, {})
  const jobs: string[] = []
  const enqueue: Queues['enqueue'] = (queue, added) => {
    jobs.push(...added.map(({ id }) => `${queue} ${id}`))
    return Promise.resolve()
  }
  await tellExhaustedBudgets(pool, { enqueue })
  await tellExhaustedBudgets(pool, { enqueue })
  const { rows } = await pool.query<{ id: string; tool: string; event: string; data: { resets_at: string } }>(
    'select id, tool, event, data from deliveries',
  )
  assert.equal(rows.length, 1)
  const [row] = rows
  assert.match(row?.data.resets_at ?? '', /T00:00:00.000Z$/)
  assert.deepEqual(
    [row?.tool, row?.event, row?.data],
    ['spent', 'tool.budget_exhausted', { spent: 3, limit: 3, resets_at: row?.data.resets_at }],
  )
  assert.deepEqual(jobs, [`deliveries ${row?.id}-1`])
})
