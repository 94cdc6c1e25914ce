import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invocationShape } from '@toolyard/contract/invocations'
import { scopes } from '@toolyard/contract/scopes'
import { createAfterCommit } from '@toolyard/invocations/after-commit'
import { claim } from '@toolyard/invocations/claim'
import { finish } from '@toolyard/invocations/finish'
import { result, success } from '@toolyard/invocations/fixtures/outcomes'
import { recordOutcomes } from '@toolyard/memory/record-outcomes'
import { renewLeases } from '@toolyard/invocations/renew-leases'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import { bodyOf, problemOf, refusalOf } from '../../fixtures/answers.ts'
import { buildTool, newManifest, publishTools, testEngine } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const admin = await makeKey(pool, { scopes: [...scopes] })
const afterCommit = createAfterCommit({
  pool,
  queues: { enqueue: async () => {} },
  onFailure: (error) => assert.fail(String(error)),
})

await publishTools(
  pool,
  [
    newManifest('plain'),
    newManifest('building'),
    newManifest('failing'),
    newManifest('large', { input: 'stdin' }),
    newManifest('paid', { constraints: { cost_budget: 2 } }),
    newManifest('secretive', { config_schema: { api_key: { secret: true, required: true } } }),
  ],
  [{ folder: 'broken', faults: ['manifest.json: is missing'] }],
)
for (const name of ['plain', 'secretive', 'large', 'paid']) await buildTool(pool, name)
// A worker that is there, and takes nothing by itself.
await renewLeases(pool, { workerId: 'w', engineId: testEngine, slots: 1_000 }, [])
await buildTool(pool, 'failing', 'apt: no such package')

const invocation = invocationShape.strict()
const page = z.strictObject({ invocations: z.array(invocation), next_cursor: z.string().nullable() })
const params = { zeta: 'x' }

function call(
  method: string,
  path: string,
  options: { body?: unknown; token?: string; headers?: Record<string, string> } = {},
) {
  const { body, token = admin.token, headers = {} } = options
  return fetch(`${api.url}${path}`, {
    method,
    headers: {
      ...bearer(token),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

const invoke = (tool: string, body: object = { params }, headers: Record<string, string> = {}) =>
  call('POST', `/tools/${tool}/invoke`, { body, headers })

async function runAsWorker(id: string, outcome: Parameters<typeof finish>[1]['outcome']) {
  const deps = { pool, afterCommit }
  const claimed = await claim(deps, { workerId: 'w', engineId: testEngine }, { invocationId: id, attempt: 1 })
  assert.equal(claimed.kind, 'claimed')
  assert.ok('attempt' in claimed)
  const raw = { stdout: Buffer.from('{}'), stderrTail: Buffer.from('the end of stderr') }
  await finish(deps, { hold: claimed.attempt, outcome, raw, within: recordOutcomes })
}

test('a call is accepted at once, and its end is read', async () => {
  const accepted = await invoke('plain', { params: { zeta: 'x', alpha: '5' }, metadata: { trace: 'abc' } })
  assert.equal(accepted.status, 202)
  const { id, status, metadata, links } = await bodyOf(accepted, invocation)
  assert.equal(accepted.headers.get('location'), `/invocations/${id}`)
  assert.deepEqual([status, metadata, links.self], ['queued', { trace: 'abc' }, `/invocations/${id}`])
  const stored = await pool.query<{ params: object }>('select params from invocation_inputs where id = $1', [
    id,
  ])
  assert.deepEqual(stored.rows[0]?.params, { zeta: 'x', alpha: 5 }, 'coerced')
  await runAsWorker(id, success)
  const ended = await bodyOf(await call('GET', `/invocations/${id}`), invocation)
  assert.deepEqual([ended.status, ended.result, ended.reward], ['succeeded', result, 0.3])
})

test('who wishes to wait is answered when it ends, not before and not later', async () => {
  const answer = invoke('plain', { params }, { prefer: 'wait=30', 'idempotency-key': 'waits' })
  const again = async () =>
    bodyOf(await invoke('plain', { params }, { 'idempotency-key': 'waits' }), invocation)
  const { id } = await again()
  const polled = call('GET', `/invocations/${id}?wait=30`)
  await runAsWorker(id, success)
  const [invoked, read] = await Promise.all([answer, polled])
  assert.equal(invoked.status, 200)
  assert.equal((await bodyOf(invoked, invocation)).status, 'succeeded')
  assert.equal((await bodyOf(read, invocation)).status, 'succeeded')
  const late = await invoke('plain', { params }, { prefer: 'wait=0' })
  assert.equal(late.status, 202)
})

test('the same key with the same body is the same invocation; with another it is refused', async () => {
  const headers = { 'idempotency-key': 'once' }
  const answers = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const answer = await invoke('plain', { params }, headers)
      return {
        id: (await bodyOf(answer, invocation)).id,
        replayed: answer.headers.get('idempotency-replayed'),
      }
    }),
  )
  assert.equal(new Set(answers.map(({ id }) => id)).size, 1)
  assert.equal(answers.filter(({ replayed }) => replayed === 'true').length, 99)
  assert.equal(
    await refusalOf(await invoke('plain', { params: { zeta: 'y' } }, headers)),
    '422 idempotency_mismatch',
  )
  assert.equal(
    await refusalOf(await invoke('plain', { params }, { 'idempotency-key': 'a b' })),
    '422 invalid_request',
  )
})

test('what cannot run is refused before it is queued, with the reason', async () => {
  const before = await pool.query('select from invocations')
  for (const [tool, body, refusal] of [
    ['none', { params }, '404 unknown_tool'],
    ['plain', { params: {} }, '422 invalid_params'],
    ['plain', { params: { zeta: 1, alpha: 0, more: 1 } }, '422 invalid_params'],
    ['plain', { params: { ...params, _state: 1 } }, '422 invalid_params'],
    ['plain', { params: { zeta: 'x'.repeat(70_000) } }, '413 payload_too_large'],
    ['plain', { params, topic: 'key:x' }, '422 invalid_request'],
    ['plain', { params, callback: 1 }, '422 invalid_request'],
    ['plain', { params, priority: 10 }, '422 invalid_request'],
    ['plain', { params, telemetry: { lat: 91 } }, '422 invalid_request'],
    ['plain', { params, metadata: { x: 'x'.repeat(5_000) } }, '422 invalid_request'],
    ['plain', [], '422 invalid_request'],
    ['secretive', { params }, '409 not_configured'],
    ['failing', { params }, '503 image_failed'],
    ['broken', { params }, '503 image_failed'],
  ] as const)
    assert.equal(
      await refusalOf(await invoke(tool, body)),
      refusal,
      `${tool} ${JSON.stringify(body).slice(0, 80)}`,
    )
  assert.equal(
    await refusalOf(await call('POST', '/tools/plain/invoke', { body: '{' })),
    '400 malformed_request',
  )
  const { faults } = await problemOf(await invoke('plain', { params: { zeta: 1, alpha: 0, more: 1 } }))
  assert.deepEqual(
    faults?.map(({ pointer }) => pointer),
    ['/params/alpha', '/params/more', '/params/zeta'],
  )
  assert.equal((await pool.query('select from invocations')).rowCount, before.rowCount)
})

test('a tool whose image is building is accepted, and says what it waits for', async () => {
  const { id } = await bodyOf(await invoke('building'), invocation)
  assert.equal(
    (await bodyOf(await call('GET', `/invocations/${id}`), invocation)).waiting_for,
    'image building',
  )
})

test('what is turned off is refused at once, and taken again when it is turned on', async () => {
  await call('PUT', '/settings/tools_enabled', { body: { enabled: false } })
  assert.equal(await refusalOf(await invoke('plain')), '503 tools_disabled')
  await call('PUT', '/settings/tools_enabled', { body: { enabled: true } })
  const { id } = await bodyOf(await invoke('plain'), invocation)
  await call('POST', '/tools/plain/disable')
  assert.equal(await refusalOf(await invoke('plain')), '409 tool_disabled')
  const waiting = await bodyOf(await call('GET', `/invocations/${id}`), invocation)
  assert.equal(waiting.waiting_for, 'tool_disabled')
  await call('POST', '/tools/plain/enable')
  assert.equal((await invoke('plain')).status, 202)
})

test('a batch answers each for itself', async () => {
  const shape = z.object({
    invocations: z.array(
      z.looseObject({ status: z.int(), problem: z.looseObject({ code: z.string() }).optional() }),
    ),
  })
  const body = { invocations: [{ tool: 'plain', params }, { tool: 'none' }, { tool: 'plain' }] }
  const { invocations } = await bodyOf(await call('POST', '/invocations/batch', { body }), shape)
  assert.deepEqual(
    invocations.map(({ status, problem }) => [status, problem?.code]),
    [
      [202, undefined],
      [404, 'unknown_tool'],
      [422, 'invalid_params'],
    ],
  )
  const tooMany = { invocations: Array.from({ length: 101 }, () => ({ tool: 'plain', params })) }
  assert.equal(
    await refusalOf(await call('POST', '/invocations/batch', { body: tooMany })),
    '422 invalid_request',
  )
})

test('lists are paged, newest first, and filtered', async () => {
  const first = await bodyOf(await call('GET', '/invocations?limit=2'), page)
  assert.equal(first.invocations.length, 2)
  const next = await bodyOf(await call('GET', `/invocations?limit=2&cursor=${first.next_cursor}`), page)
  const ids = [...first.invocations, ...next.invocations].map(({ id }) => id)
  assert.deepEqual(ids, ids.toSorted().toReversed())
  const succeeded = await bodyOf(await call('GET', '/invocations?status=succeeded&tool=plain'), page)
  assert.ok(succeeded.invocations.length >= 2)
  assert.ok(succeeded.invocations.every(({ status, tool }) => status === 'succeeded' && tool === 'plain'))
  assert.equal(await refusalOf(await call('GET', '/invocations?status=done')), '422 invalid_request')
  assert.equal(await refusalOf(await call('GET', '/invocations?cursor=x')), '422 invalid_request')
})

test('what waits is cancelled at once, and only once', async () => {
  const { id } = await bodyOf(await invoke('plain'), invocation)
  const cancelled = await call('POST', `/invocations/${id}/cancel`)
  assert.equal(cancelled.status, 200)
  assert.equal((await bodyOf(cancelled, invocation)).status, 'cancelled')
  const feedback = { body: { feedback: 1 } }
  assert.equal(
    await refusalOf(await call('POST', `/invocations/${id}/feedback`, feedback)),
    '409 not_counted',
  )
  assert.equal(await refusalOf(await call('POST', `/invocations/${id}/cancel`)), '409 already_final')
})

test('an invocation is run again, and its outcome is weighed once', async () => {
  const { id } = await bodyOf(await invoke('plain'), invocation)
  assert.equal(
    await refusalOf(await call('POST', `/invocations/${id}/feedback`, { body: { feedback: 1 } })),
    '409 not_final',
  )
  await runAsWorker(id, {
    kind: 'failed',
    failure: { kind: 'tool_error', class: 'internal', message: 'no' },
  })
  const failed = await bodyOf(await call('GET', `/invocations/${id}`), invocation)
  assert.equal(failed.failure?.stderr_tail, 'the end of stderr')
  const reader = await makeKey(pool, { scopes: ['invocations:read'] })
  const plain = await bodyOf(await call('GET', `/invocations/${id}`, { token: reader.token }), invocation)
  assert.equal(plain.failure?.stderr_tail, undefined, 'raw output has a scope of its own')

  const again = await call('POST', `/invocations/${id}/replay`, { body: { version: 'same' } })
  assert.equal(again.status, 202)
  assert.notEqual((await bodyOf(again, invocation)).id, id)
  assert.equal((await call('POST', `/invocations/${id}/replay`)).status, 202)

  const feedback = () => call('POST', `/invocations/${id}/feedback`, { body: { feedback: 0.5 } })
  assert.deepEqual(await (await feedback()).json(), { feedback: 0.5 })
  assert.equal(await refusalOf(await feedback()), '409 already_final')
  const weighed = await bodyOf(await call('GET', `/invocations/${id}`), invocation)
  assert.deepEqual([weighed.reward, weighed.feedback], [0.5, 0.5])
})

test('a key sees and touches only what is of its topics and tools', async () => {
  const mine = await makeKey(pool, { scopes: [...scopes], topics: ['mine'] })
  const { id: foreign } = await bodyOf(await invoke('plain'), invocation)
  for (const [method, path, body] of [
    ['GET', `/invocations/${foreign}`],
    ['GET', `/invocations/${foreign}?wait=5`],
    ['POST', `/invocations/${foreign}/cancel`],
    ['POST', `/invocations/${foreign}/replay`, {}],
    ['POST', `/invocations/${foreign}/feedback`, { feedback: 1 }],
    ['GET', '/invocations/inv_00000000000000000000000000'],
    ['GET', '/invocations/nonsense'],
  ] as const)
    assert.equal(
      await refusalOf(
        await call(method, path, { token: mine.token, ...(body === undefined ? {} : { body }) }),
      ),
      '404 not_found',
      `${method} ${path}`,
    )
  const own = await bodyOf(
    await call('POST', '/tools/plain/invoke', { body: { params }, token: mine.token }),
    invocation,
  )
  assert.equal(own.topic, 'mine')
  const listed = await bodyOf(await call('GET', '/invocations', { token: mine.token }), page)
  assert.deepEqual(
    listed.invocations.map(({ id }) => id),
    [own.id],
  )
  const other = { body: { params, topic: 'theirs' }, token: mine.token }
  assert.equal(await refusalOf(await call('POST', '/tools/plain/invoke', other)), '404 not_found')
  const bound = await makeKey(pool, { scopes: [...scopes], tools: ['building'] })
  const forbidden = { body: { params }, token: bound.token }
  assert.equal(await refusalOf(await call('POST', '/tools/plain/invoke', forbidden)), '404 unknown_tool')
})

test('each route asks for its scope', async () => {
  const { token } = await makeKey(pool, { scopes: ['ops:view'] })
  for (const [method, path, body] of [
    ['POST', '/tools/plain/invoke', { params }],
    ['POST', '/invocations/batch', { invocations: [{ tool: 'plain', params }] }],
    ['GET', '/invocations'],
    ['GET', '/invocations/x'],
    ['POST', '/invocations/x/cancel'],
    ['POST', '/invocations/x/replay', {}],
    ['POST', '/invocations/x/feedback', { feedback: 1 }],
  ] as const)
    assert.equal(
      await refusalOf(await call(method, path, { token, ...(body === undefined ? {} : { body }) })),
      '403 missing_scope',
      `${method} ${path}`,
    )
})

test('a tool that takes its payload on stdin is given megabytes, and others are not', async () => {
  const megabytes = (count: number) => ({ params: { zeta: 'x'.repeat(count * 1_000_000) } })
  assert.equal((await invoke('large', megabytes(4))).status, 202)
  assert.equal(await refusalOf(await invoke('large', megabytes(5))), '413 payload_too_large')
  assert.equal(await refusalOf(await invoke('large', megabytes(6))), '413 payload_too_large')
  assert.equal(await refusalOf(await invoke('plain', megabytes(4))), '413 payload_too_large')
  assert.equal(
    await refusalOf(await call('PUT', '/tools/plain/config', { body: { a: 'x'.repeat(2_000_000) } })),
    '413 payload_too_large',
  )
})

test('a tool that has spent its budget of the day is refused until the next', async () => {
  for (let spent = 0; spent < 2; spent++) {
    const { id } = await bodyOf(await invoke('paid'), invocation)
    await runAsWorker(id, success)
  }
  const refused = await invoke('paid')
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.equal(await refusalOf(refused), '429 budget_exhausted')
  const shown = z.looseObject({
    budget: z.looseObject({ spent: z.number(), limit: z.number(), exhausted: z.boolean() }),
    memory: z.looseObject({ attempts: z.int(), weight: z.number() }),
  })
  const { budget, memory } = await bodyOf(await call('GET', '/tools/paid'), shown)
  assert.deepEqual([budget.spent, budget.limit, budget.exhausted], [2, 2, true])
  assert.equal(memory.attempts, 2)
  const learned = await bodyOf(await call('GET', '/tools/paid/memory'), z.looseObject({ tool: z.string() }))
  assert.equal(learned.tool, 'paid')
  const all = z.looseObject({ memory: z.array(z.looseObject({ tool: z.string() })) })
  const listed = await bodyOf(await call('GET', '/memory'), all)
  assert.ok(listed.memory.some(({ tool }) => tool === 'paid'))
  assert.equal(await refusalOf(await call('GET', '/tools/none/memory')), '404 unknown_tool')
})
