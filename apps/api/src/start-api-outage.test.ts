import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Scope } from '@toolyard/contract/scopes'
import { testDatabase } from '@toolyard/testkit/database'
import type { StallableProxy } from '@toolyard/testkit/stallable-proxy'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { problemOf } from './fixtures/answers.ts'
import { stallOnceWarm } from './fixtures/stall-once-warm.ts'
import { testApi } from './fixtures/test-api.ts'
import { bearer, makeKey } from './fixtures/test-keys.ts'

const { pool, url: databaseUrl } = await testDatabase()

// The key's 2 s, then the longest that the fixture's pool waits for a statement.
const answeredWithinMs = 5_000

async function stalledApi() {
  const proxy = await stallableProxy(databaseUrl)
  const api = await testApi({ databaseUrl: proxy.url })
  const scopes: Scope[] = ['keys:manage', 'ops:view']
  const [warm, cold] = [await makeKey(pool, { scopes }), await makeKey(pool, { scopes })]
  const ask = (path: string, { token } = warm) => fetch(`${api.url}${path}`, { headers: bearer(token) })
  await stallOnceWarm(proxy, api.url, warm.token)
  return { proxy, ask, cold }
}

async function assertUnavailable(answer: Response): Promise<void> {
  const problem = await problemOf(answer)
  assert.equal(`${problem.status} ${problem.code}`, '503 store_unavailable')
  assert.ok(Number(answer.headers.get('retry-after')) >= 1)
  assert.doesNotMatch(problem.detail, /127\.0\.0\.1|ECONN|timeout|select/)
}

async function assertOutage(take: (proxy: StallableProxy) => void): Promise<void> {
  const { proxy, ask, cold } = await stalledApi()
  const beganAtMs = performance.now()
  take(proxy)
  const refusals = [ask('/keys'), ask('/audit'), ask('/keys', cold), ask('/metrics', cold)]
  const readiness = ask('/readyz')
  let lastYesMs = 0
  // What needs no database but for the key: it is honoured for 2 s from the last reading of the epoch.
  const refused = await waitUntil('a warm key is refused', async () => {
    const askedAtMs = performance.now() - beganAtMs
    const answer = await ask('/metrics')
    if (answer.status === 200) lastYesMs = askedAtMs
    return answer.status === 200 ? undefined : answer
  })
  assert.ok(lastYesMs > 0 && lastYesMs < 2_000, `the last yes was asked for after ${lastYesMs} ms`)
  await assertUnavailable(refused)
  assert.equal((await readiness).status, 503)
  for (const answer of await Promise.all(refusals)) await assertUnavailable(answer)
  assert.ok(performance.now() - beganAtMs < answeredWithinMs, `${performance.now() - beganAtMs} ms`)
  assert.equal((await ask('/healthz')).status, 200)
  proxy.mend()
  await waitUntil('it heals', async () => {
    const answers = await Promise.all([ask('/keys'), ask('/metrics', cold), ask('/readyz')])
    return answers.every((answer) => answer.status === 200)
  })
}

test('a database whose connections break is answered 503 until it is back (I9)', () =>
  assertOutage((proxy) => proxy.cut()))

test('a database that says nothing more is answered 503 in seconds until it is back (I9)', () =>
  assertOutage((proxy) => proxy.stall()))
