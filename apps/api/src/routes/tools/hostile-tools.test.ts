import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '@toolyard/contract/scopes'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { refusalOf } from '../../fixtures/answers.ts'
import { newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { callerOf } from '../../fixtures/caller.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const admin = await makeKey(pool, { scopes: [...scopes] })
await publishTools(
  pool,
  [newManifest('plain'), newManifest('other'), newManifest('third')],
  [{ folder: 'other broken', faults: ['manifest.json: is missing'] }],
)

const call = callerOf(api.url, admin.token)

test('a name that no database can hold is an unknown tool, and such a key is not stored', async () => {
  for (const [method, path, body] of [
    ['GET', ''],
    ['GET', '/versions'],
    ['GET', '/config'],
    ['PUT', '/config', { a: 'b' }],
    ['DELETE', '/config/a'],
    ['POST', '/test'],
    ['POST', '/enable'],
    ['POST', '/disable'],
    ['POST', '/rollback', {}],
    ['POST', '/invoke', {}],
  ] as const)
    assert.equal(await refusalOf(await call(method, `/tools/a%00b${path}`, body)), '404 unknown_tool', path)
  const deleted = await call('DELETE', '/tools/plain/config/a%00b')
  assert.equal(deleted.status, 200)
  assert.equal((await call('GET', '/invocations?tool=a%00b&topic=%00')).status, 200)
})

test('whoever leaves while the folders are read is no fault of ours', async () => {
  // A worker that lives and does not answer.
  await pool.query(
    "insert into processes (id, kind, host, pid, ready) values ('stuck', 'worker', 'test', 1, true)",
  )
  const leaving = new AbortController()
  const answer = fetch(`${api.url}/tools/reload`, {
    method: 'POST',
    headers: bearer(admin.token),
    signal: leaving.signal,
  })
  await waitUntil('the wish is there', async () => {
    const wishes = await pool.query<{ reload: string }>('select reload from catalog_state')
    return Number(wishes.rows[0]?.reload) === 1
  })
  leaving.abort()
  await assert.rejects(answer, { name: 'AbortError' })
  const event = await waitUntil('the request is over', () =>
    api.events().find(({ route }) => route === '/tools/reload'),
  )
  assert.notEqual(event['status'], 500)
  await pool.query("delete from processes where id = 'stuck'")
})

test('a bound key is told of no other tool when it reloads, not even how many there are', async () => {
  const bound = await makeKey(pool, { scopes: [...scopes], tools: ['plain'] })
  await pool.query(
    "insert into processes (id, kind, host, pid, ready) values ('w', 'worker', 'test', 1, true)",
  )
  await pool.query('update catalog_scans set reload = 1000')
  const told = async (token: string): Promise<unknown> =>
    (await call('POST', '/tools/reload', undefined, token)).json()
  assert.deepEqual(await told(admin.token), {
    reloaded: true,
    workers: 1,
    tools: 3,
    faults: [{ folder: 'other broken', faults: ['manifest.json: is missing'] }],
  })
  assert.deepEqual(await told(bound.token), { reloaded: true, workers: 1, tools: 1, faults: [] })
})
