import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPool } from '@toolyard/db/pool'
import { success } from '@toolyard/invocations/fixtures/outcomes'
import { getInvocation } from '@toolyard/invocations/get'
import { createWatcher } from '@toolyard/invocations/watcher'
import { testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { z } from 'zod'
import { bodyOf } from '../../fixtures/answers.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'
import { workerHand } from '../../fixtures/worker-hand.ts'
import { followCall } from './follow-call.ts'

const { url: databaseUrl, pool: near } = await testDatabase()
const api = await testApi({ databaseUrl })
const { token } = await makeKey(near, { scopes: ['tools:invoke'] })
await publishTools(near, [newManifest('free', { parameters: {} })])
await buildTool(near, 'free')
const worker = await workerHand(near)

const proxy = await stallableProxy(databaseUrl)
const applicationName = 'toolyard-test'
const pool = createPool({ url: proxy.url, max: 2, applicationName, onIdleError: () => {} })
const watcher = createWatcher({ pool, databaseUrl: proxy.url, applicationName, onError: () => {} })
after(async () => {
  await watcher.close()
  await pool.end()
})
const actor = { kind: 'operator' } as const

async function accept() {
  const answer = await fetch(`${api.url}/tools/free/invoke`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: '{}',
  })
  const { id } = await bodyOf(answer, z.object({ id: z.string() }))
  return getInvocation(near, actor, id)
}

function follow(accepted: Awaited<ReturnType<typeof accept>>, waitMs: number) {
  const gone = new AbortController()
  const told: string[] = []
  const noted: object[] = []
  const deps = { pool, watcher, isLeaving: () => false }
  const following = followCall(deps, accepted, {
    actor,
    waitMs,
    signal: gone.signal,
    checkKey: async () => {},
    event: { set: (fields) => void noted.push(fields) },
    tell: async ({ status }) => void told.push(status),
  })
  return { following, gone, told, noted }
}

test('a database that is away for a moment ends no wait, and nothing is told meanwhile', async () => {
  const accepted = await accept()
  proxy.cut()
  const { following, told, noted } = follow(accepted, 60_000)
  await waitUntil('the database to be asked in vain', () => noted.length > 0)
  assert.deepEqual(told, ['queued'])
  proxy.mend()
  await worker.run('free', success)
  assert.equal((await following).status, 'succeeded')
  assert.equal(told.at(-1), 'succeeded')
})

test('a database that lets nobody in for a moment ends no wait either', async () => {
  const accepted = await accept()
  const name = new URL(databaseUrl).pathname.slice(1)
  const { following, noted } = follow(accepted, 60_000)
  const elsewhere = new URL(databaseUrl)
  elsewhere.pathname = '/postgres'
  const admin = createPool({ url: elsewhere.href, max: 1, applicationName, onIdleError: () => {} })
  await admin.query(`alter database "${name}" with allow_connections false`)
  const terminate = `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`
  await admin.query(terminate, [name])
  await waitUntil('the database to be asked in vain', () => noted.length > 0)
  await admin.query(`alter database "${name}" with allow_connections true`)
  await admin.end()
  await worker.run('free', success)
  assert.equal((await following).status, 'succeeded')
})

test('while the database is away the time ends the wait all the same, and so does a caller that goes', async () => {
  const accepted = await accept()
  proxy.cut()
  const late = follow(accepted, 100)
  assert.equal((await late.following).status, 'queued')
  const left = follow(accepted, 60_000)
  await waitUntil('the database to be asked in vain', () => left.noted.length > 0)
  left.gone.abort()
  assert.equal((await left.following).status, 'queued')
  proxy.mend()
})
