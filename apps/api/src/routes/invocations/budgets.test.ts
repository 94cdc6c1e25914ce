import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '@toolyard/contract/scopes'
import { createAfterCommit } from '@toolyard/invocations/after-commit'
import { claim } from '@toolyard/invocations/claim'
import { finish } from '@toolyard/invocations/finish'
import { success } from '@toolyard/invocations/fixtures/outcomes'
import { renewLeases } from '@toolyard/invocations/renew-leases'
import { recordOutcomes } from '@toolyard/memory/record-outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import { bodyOf, problemOf } from '../../fixtures/answers.ts'
import { callerOf } from '../../fixtures/caller.ts'
import { buildTool, newManifest, publishTools, testEngine } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
// Two processes, which know nothing of each other.
const apis = [await testApi({ databaseUrl }), await testApi({ databaseUrl })] as const
const { token } = await makeKey(pool, { scopes: [...scopes] })
const [call, callOther] = [callerOf(apis[0].url, token), callerOf(apis[1].url, token)]

const tools = ['burst', 'batched', 'called', 'replayed', 'repeated', 'ending']
await publishTools(
  pool,
  tools.map((name) => newManifest(name, { parameters: {}, constraints: { cost_budget: 10 } })),
)
for (const name of tools) await buildTool(pool, name)
await renewLeases(pool, { workerId: 'w', engineId: testEngine, slots: 1_000 }, [])

const accepted = z.looseObject({ id: z.string() })
const times = <T>(count: number, make: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

const invoke = (tool: string, n = 0) => (n % 2 === 0 ? call : callOther)('POST', `/tools/${tool}/invoke`, {})

async function stored(tool: string): Promise<number | null> {
  return (await pool.query('select from invocations where tool = $1', [tool])).rowCount
}

/** How many were accepted; each refusal must say when to come again. */
async function acceptedOf(answers: readonly Response[]): Promise<number> {
  const refused = answers.filter(({ status }) => status !== 202)
  for (const answer of refused) {
    const { status, code, detail } = await problemOf(answer)
    assert.deepEqual([status, code], [429, 'budget_exhausted'])
    const [, resetsAt = ''] = /the budget is fresh at (\S+)$/.exec(detail) ?? []
    const seconds = (Date.parse(resetsAt) - Date.now()) / 1_000
    assert.ok(Math.abs(Number(answer.headers.get('retry-after')) - seconds) < 30, detail)
  }
  return answers.length - refused.length
}

test('of 50 calls at once a budget of 10 takes 10', async () => {
  const answers = await times(50, (n) => invoke('burst', n))
  assert.deepEqual([await acceptedOf(answers), await stored('burst')], [10, 10])
})

test('nor do the calls of a batch, of a model, or replays pass it', async () => {
  const batch = { invocations: Array.from({ length: 50 }, () => ({ tool: 'batched' })) }
  assert.equal((await call('POST', '/invocations/batch', batch)).status, 200)
  assert.equal(await stored('batched'), 10)

  const calls = Array.from({ length: 50 }, (_, n) => ({
    id: `c${n}`,
    function: { name: 'called', arguments: '{}' },
  }))
  const answered = await fetch(`${apis[0].url}/tool-calls`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json', prefer: 'wait=0' },
    body: JSON.stringify(calls),
  })
  const results = await bodyOf(answered, z.array(z.looseObject({ error: z.string().optional() })))
  assert.equal(results.filter(({ error }) => error?.startsWith('budget_exhausted: ')).length, 40)
  assert.equal(await stored('called'), 10)

  for (const [tool, version] of [
    ['replayed', 'newest'],
    ['repeated', 'same'],
  ] as const) {
    const { id } = await bodyOf(await invoke(tool), accepted)
    const replays = await times(20, () => call('POST', `/invocations/${id}/replay`, { version }))
    assert.deepEqual([await acceptedOf(replays), await stored(tool)], [9, 10], version)
  }
})

test('what ends while others are accepted is counted once: under way or spent', async (t) => {
  const afterCommit = createAfterCommit({
    pool,
    queues: { enqueue: async () => {} },
    onFailure: (error) => assert.fail(String(error)),
  })
  t.after(() => afterCommit.settle())
  const deps = { pool, afterCommit }
  async function callAndEnd(n: number): Promise<boolean> {
    const answer = await invoke('ending', n)
    if (answer.status !== 202) return (await acceptedOf([answer])) === 1
    const { id } = await bodyOf(answer, accepted)
    const claimed = await claim(
      deps,
      { workerId: 'w', engineId: testEngine },
      { invocationId: id, attempt: 1 },
    )
    assert.ok(claimed.kind === 'claimed')
    await finish(deps, { hold: claimed.attempt, outcome: success, within: recordOutcomes })
    return true
  }
  const taken = (await times(40, callAndEnd)).filter(Boolean).length
  const spent = await pool.query("select budget_spent from tool_memory where tool = 'ending'")
  assert.deepEqual([taken, spent.rows[0]?.budget_spent], [10, 10])
})
