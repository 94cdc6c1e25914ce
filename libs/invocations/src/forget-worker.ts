import type { Sql } from '@toolyard/db/pool'

/** A worker that ends takes its slots out of the limits at once. What it still held is taken back when it is stale. */
export async function forgetWorker(sql: Sql, workerId: string): Promise<void> {
  await sql.query('delete from workers where id = $1', [workerId])
}
