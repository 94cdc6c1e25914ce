import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publishScan } from '@toolyard/catalog/publish-scan'
import type { Manifest } from '@toolyard/contract/manifest'
import { scopes } from '@toolyard/contract/scopes'
import { checkSubmission } from '@toolyard/invocations/submission'
import { createQueueDepth } from '@toolyard/invocations/queue-depth'
import { submitBatch } from '@toolyard/invocations/submit-batch'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import { bodyOf, problemOf, refusalOf } from '../../fixtures/answers.ts'
import { callerOf } from '../../fixtures/caller.ts'
import { newManifest, testEngine } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const { token } = await makeKey(pool, { scopes: [...scopes] })
const call = callerOf(api.url, token)

let scans = 0

/** As a worker does that finds these tools in its folder, in this version. */
async function publish(version: string, ...manifests: Manifest[]): Promise<void> {
  const tools = manifests.map((manifest) => ({
    name: manifest.name,
    hash: `${manifest.name} ${version}`,
    manifest,
  }))
  scans += 1
  await publishScan(pool, {
    processId: 'w',
    engineId: testEngine,
    reload: 0,
    contentHash: `scan ${scans}`,
    scan: { tools, faults: [], unsettled: [] },
  })
}

const taking = (name: string, parameter: string, more: object = {}) =>
  newManifest(name, { parameters: { [parameter]: { type: 'string', required: true } }, ...more })

const shape = z.looseObject({ id: z.string(), image_hash: z.string() })
const replay = (id: string, version?: 'same' | 'newest') =>
  call('POST', `/invocations/${id}/replay`, version === undefined ? undefined : { version })

async function invoke(tool: string, params: object): Promise<string> {
  return (await bodyOf(await call('POST', `/tools/${tool}/invoke`, { params }), shape)).id
}

async function storedParams(answer: Response): Promise<unknown> {
  const { id } = await bodyOf(answer, shape)
  const { rows } = await pool.query('select params from invocation_inputs where id = $1', [id])
  return rows[0]?.params
}

test('what was given is held to the tool as it is now, unless it runs on the version that took it', async () => {
  await publish('1', taking('moved', 'first'))
  const id = await invoke('moved', { first: 'x' })
  await publish(
    '2',
    newManifest('moved', {
      parameters: { first: { type: 'string' }, more: { type: 'integer', default: 3 } },
    }),
  )
  assert.deepEqual(await storedParams(await replay(id)), { first: 'x', more: 3 })
  await publish('3', taking('moved', 'second'))
  const refused = await problemOf(await replay(id))
  assert.deepEqual(
    [refused.status, refused.code, refused.faults?.map(({ pointer }) => pointer)],
    [422, 'invalid_params', ['/params/first', '/params/second']],
  )
  const same = await replay(id, 'same')
  assert.equal((await bodyOf(same.clone(), shape)).image_hash, 'moved 1')
  assert.deepEqual(await storedParams(same), { first: 'x' })
  await publish('1', taking('other', 'first'))
  for (const version of ['same', 'newest'] as const)
    assert.equal(await refusalOf(await replay(id, version)), '404 unknown_tool', version)
})

test('what became too large for the tool, or lacks a setting now, is not run again', async () => {
  await publish('1', taking('shrunk', 'text', { input: 'stdin' }))
  const id = await invoke('shrunk', { text: 'x'.repeat(70_000) })
  assert.equal((await replay(id)).status, 202)
  await publish('2', taking('shrunk', 'text'))
  assert.equal(await refusalOf(await replay(id)), '413 payload_too_large')
  assert.equal((await replay(id, 'same')).status, 202)
  await publish('3', taking('shrunk', 'text', { config_schema: { token: { required: true } } }))
  for (const version of ['same', 'newest'] as const) {
    const { code, faults } = await problemOf(await replay(id, version))
    assert.deepEqual([code, faults?.map(({ pointer }) => pointer)], ['not_configured', ['/config/token']])
  }
})

test('what the platform had added is given again as it was, beside what a caller may give', async () => {
  await publish('1', taking('ticking', 'text'))
  const given = { text: 'x'.repeat(61_000), _state: { seen: 'y'.repeat(12_000) } }
  const submission = {
    tool: 'ticking',
    topic: 'cron:ticking',
    keyId: null,
    params: given,
    telemetry: { time: 'then' },
  }
  const { answers } = await submitBatch(pool, createQueueDepth(pool), [checkSubmission(submission)])
  const [made] = answers
  assert.ok(made?.kind === 'accepted')
  for (const version of ['same', 'newest'] as const)
    assert.deepEqual(await storedParams(await replay(made.invocation.id, version)), given, version)
  const { rows } = await pool.query(
    'select distinct telemetry::text from invocation_inputs join invocations using (id) where tool = $1',
    ['ticking'],
  )
  assert.deepEqual(rows, [{ telemetry: '{"time":"then"}' }])
})

test('replays that come while the tool changes run on the version by which they were judged', async () => {
  const names = ['a', 'b', 'a', 'b', 'a']
  const ids: string[] = []
  for (const name of ['a', 'b']) {
    await publish(name, taking('busy', name))
    ids.push(await invoke('busy', { [name]: 'x' }))
  }
  const answers: string[] = []
  const replaying = Array.from({ length: 20 }, async () => {
    for (const id of [...ids, ...ids]) {
      const answer = await replay(id)
      answers.push(answer.status === 202 ? '202' : await refusalOf(answer))
    }
  })
  for (const name of names) await publish(name, taking('busy', name))
  await Promise.all(replaying)
  assert.deepEqual([...new Set(answers)].toSorted(), ['202', '422 invalid_params'])
  const wrong = await pool.query(
    `select from invocations join invocation_inputs using (id)
    where tool = 'busy' and submitted_hash <> 'busy ' || (select json_object_keys(params))`,
  )
  assert.equal(wrong.rowCount, 0)
})
