import assert from 'node:assert/strict'
import type { Pool, Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'

const moveEpoch = 'update catalog_state set epoch = epoch + 1'

/**
 * Every transaction that changes what callers see of tools. Moving the epoch first locks its one row, so changes
 * happen one after the other, cannot deadlock, and no process can take a half-told change for the whole.
 */
export async function changeCatalog<T>(pool: Pool, work: (sql: Sql) => Promise<T>): Promise<T> {
  return transaction(pool, async (sql) => {
    const moved = await sql.query(moveEpoch)
    assert.equal(moved.rowCount, 1, 'catalog_state must hold its one row')
    return work(sql)
  })
}
