import type { House } from '../house/open-house.ts'
import { becomes } from '../services/machine/becomes.ts'
import { codeOf } from '../services/terminal/failure.ts'

const deadlockDetected = '40P01'
const wipeTimeoutMs = 10_000

const listTables = `
  select string_agg(format('bullmq.%I', tablename), ', ') as list
  from pg_tables where schemaname = 'bullmq' and tablename <> 'migration'`

/** All that the queue holds is gone, whatever it is kept in (I4). */
export async function wipeQueue({ redis, pool }: House): Promise<void> {
  if (redis !== undefined) return redis.flush()
  const tables = await pool.query<{ list: string }>(listTables)
  const truncate = async () => {
    try {
      await pool.query(`truncate ${tables.rows[0]?.list ?? ''} restart identity`)
      return true
    } catch (error) {
      // A consumer that looks for jobs locks the tables in another order; one of the two is made to give way.
      if (codeOf(error) === deadlockDetected) return false
      throw error
    }
  }
  if (!(await becomes(truncate, wipeTimeoutMs))) throw new Error('the queue could not be wiped')
}
