import { createPool } from '@toolyard/db/pool'
import type { Pool } from '@toolyard/db/pool'
import { addEnded, addWaiting } from '../fixtures/many.ts'

const tables = ['invocations', 'invocation_inputs', 'invocation_outcomes', 'invocation_raws', 'attempts']
// A tenth of the time, with the indexes that are there already written row by row.
const indexedLaterFrom = 1_000_000

// Those that no constraint keeps.
const findIndexes = `
  select indexname as name, indexdef as definition from pg_indexes
  where tablename = any($1)
    and not exists (select from pg_constraint where conindid = format('%I.%I', schemaname, indexname)::regclass)`

/** Calls of the last 29 days, what waits, and statistics of them. */
export async function fillTable(
  url: string,
  count: number,
  onProgress: (line: string) => void = () => {},
): Promise<void> {
  const hourMs = 3_600_000
  const pool = createPool({
    url,
    max: 1,
    applicationName: 'toolyard-bench',
    statementTimeoutMs: hourMs,
    serverOptions: '-c synchronous_commit=off -c maintenance_work_mem=512MB',
    onIdleError: () => {},
  })
  try {
    await addWaiting(pool)
    const fill = () =>
      addEnded(pool, { first: 1, count, days: [29, 0.01] }, (done) => onProgress(`${done} of ${count} rows`))
    await (count < indexedLaterFrom ? fill() : withoutIndexes(pool, fill, onProgress))
    onProgress('vacuum and analyze')
    await pool.query(`vacuum (analyze) ${tables.join()}`)
  } finally {
    await pool.end()
  }
}

async function withoutIndexes(
  pool: Pool,
  fill: () => Promise<void>,
  onProgress: (line: string) => void,
): Promise<void> {
  const { rows } = await pool.query<{ name: string; definition: string }>(findIndexes, [tables])
  for (const { name } of rows) await pool.query(`drop index ${name}`)
  await fill()
  for (const { name, definition } of rows) {
    onProgress(name)
    await pool.query(definition)
  }
}
