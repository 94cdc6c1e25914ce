import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publishScan } from '@toolyard/catalog/publish-scan'
import { scopes } from '@toolyard/contract/scopes'
import { testDatabase } from '@toolyard/testkit/database'
import { refusalOf } from '../../fixtures/answers.ts'
import { newManifest, testEngine } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const { token } = await makeKey(pool, { scopes: [...scopes] })

let scans = 0

/** As a worker does that finds the tool so in its folder. */
async function publish(name: string, parameter: string): Promise<void> {
  const manifest = newManifest(name, { parameters: { [parameter]: { type: 'string', required: true } } })
  scans += 1
  await publishScan(pool, {
    processId: 'w',
    engineId: testEngine,
    reload: 0,
    contentHash: `scan ${scans}`,
    scan: { tools: [{ name, hash: `${name} ${parameter}`, manifest }], faults: [], unsettled: [] },
  })
}

async function invoke(tool: string, parameter: string): Promise<string> {
  const answer = await fetch(`${api.url}/tools/${tool}/invoke`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify({ params: { [parameter]: 'x' } }),
  })
  return answer.status === 202 ? '202' : refusalOf(answer)
}

test('a call is judged by the tool as it is now, also where the api has seen another before', async () => {
  await publish('moving', 'first')
  assert.equal(await invoke('moving', 'first'), '202')
  await publish('moving', 'second')
  assert.equal(await invoke('moving', 'second'), '202', 'the old version would refuse it')
  await publish('moving', 'third')
  assert.equal(await invoke('moving', 'second'), '422 invalid_params', 'the old version would accept it')
  await publish('other', 'first')
  assert.equal(await invoke('moving', 'third'), '404 unknown_tool')
  assert.equal(await invoke('other', 'first'), '202')
  const stored = await pool.query('select submitted_hash from invocations order by id')
  assert.deepEqual(
    stored.rows.map((row) => row.submitted_hash),
    ['moving first', 'moving second', 'other first'],
  )
})

test('calls that come while the tool changes are accepted by the one version or refused by the other', async () => {
  await publish('busy', 'a')
  const names = ['a', 'b', 'a', 'b', 'a']
  const answers: [parameter: string, answer: string][] = []
  const calling = Array.from({ length: 20 }, async () => {
    for (const parameter of ['a', 'b', 'a', 'b']) answers.push([parameter, await invoke('busy', parameter)])
  })
  for (const name of names) await publish('busy', name)
  await Promise.all(calling)
  assert.deepEqual([...new Set(answers.map(([, answer]) => answer))].toSorted(), [
    '202',
    '422 invalid_params',
  ])
  const wrong = await pool.query(
    `select from invocations join invocation_inputs using (id)
    where tool = 'busy' and submitted_hash <> 'busy ' || (select json_object_keys(params))`,
  )
  assert.equal(wrong.rowCount, 0)
})
