import { after } from 'node:test'
import { createPool } from '@toolyard/db/pool'
import { rememberStatements } from './remembered-statements.ts'

/** A pool that remembers what it is asked; it ends with the test file. */
export function rememberingPool(url: string) {
  const pool = createPool({ url, max: 1, applicationName: 'toolyard-test', onIdleError: () => {} })
  after(() => pool.end())
  return { pool, ...rememberStatements(pool) }
}
