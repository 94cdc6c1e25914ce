import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyDatabase } from '@toolyard/testkit/database'
import { testDatabaseServer, testRedisUrl } from '@toolyard/testkit/environment'
import { testYard } from '../fixtures/yard.ts'

test('tests on servers that the environment names say so, and drop nothing of others there', async (t) => {
  const other = await emptyDatabase()
  const yard = await testYard(t, { DATABASE_URL: testDatabaseServer(), REDIS_URL: testRedisUrl() })
  const run = await yard.run(['test', 'libs/config/src/secret.test.ts'])
  assert.equal(run.code, 0, run.stderr)
  const { host } = new URL(testDatabaseServer())
  assert.match(run.stdout, new RegExp(`^Postgres .*${host}.* \\(named by DATABASE_URL\\)$`, 'm'))
  assert.match(
    run.stdout,
    new RegExp(`^Redis .*${new URL(testRedisUrl()).host} \\(named by REDIS_URL\\)$`, 'm'),
  )
  assert.match(run.stdout, /On that Postgres are \d+ databases of other runs \(toolyard_/)
  assert.match(run.stdout, /^\d+ passed, 0 failed$/m)
  assert.equal((await other.pool.query('select 1')).rowCount, 1)
})
