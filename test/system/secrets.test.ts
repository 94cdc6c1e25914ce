import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { createPool } from '@toolyard/db/pool'
import { emptyDatabase } from '@toolyard/testkit/database'
import { testDockerHost, testRedisUrl } from '@toolyard/testkit/environment'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { findSpelling, spellingsOf } from './fixtures/spellings.ts'
import { removeImagesAfter } from '../fixtures/remove-images-after.ts'
import type { Yard } from '../fixtures/yard.ts'
import { succeeded, testYard } from '../fixtures/yard.ts'

// I6, through the whole product: a secret that was set by PUT, and that its tool then shouts, is found nowhere.

const ways = ['text', 'error', 'exit', 'garbage'] as const
const imageWaitMs = 240_000

for (const queue of ['postgres', 'redis'] as const) {
  test(`a secret is found nowhere (queue in ${queue})`, async (t) => {
    // With what each escaping has to escape.
    const secret = `c&na"ry<+/${randomBytes(24).toString('base64url')}`
    const spellings = spellingsOf(secret)
    const database = await emptyDatabase()
    const yard = await startYard(t, queue, database.url)
    const answers = await useTheTool(yard, secret)

    for (const answer of answers)
      assert.equal(findSpelling(spellings, Buffer.from(answer)), undefined, answer)
    assert.ok(
      answers.some((answer) => answer.includes('***')),
      'the tool did tell it',
    )
    for (const [table, text] of await dump(database.url))
      assert.equal(findSpelling(spellings, Buffer.from(text)), undefined, `table ${table}`)
    for (const file of filesIn(yard.dataDir))
      assert.equal(findSpelling(spellings, readFileSync(file)), undefined, file)
  })
}

async function startYard(t: TestContext, queue: 'postgres' | 'redis', databaseUrl: string): Promise<Yard> {
  const yard = await testYard(t, {
    DATABASE_URL: databaseUrl,
    YARD_LOG_LEVEL: 'debug',
    ...(queue === 'redis' ? { REDIS_URL: testRedisUrl() } : {}),
  })
  cpSync(join(import.meta.dirname, 'fixtures/leaky'), join(yard.toolDir, 'leaky'), { recursive: true })
  removeImagesAfter(t, yard)
  succeeded(await yard.run(['up', '--detach']))
  return yard
}

/** Runs it in every way, and looks at the engine while it runs. Gives the text of every answer. */
async function useTheTool(yard: Yard, secret: string): Promise<string[]> {
  const token = readFileSync(join(yard.dataDir, 'admin.key'), 'utf8').trim()
  const answers: string[] = []
  const call = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${yard.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        prefer: 'wait=30',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    answers.push(text)
    // safe because every route answers with an object
    return JSON.parse(text) as Record<string, unknown>
  }
  await waitUntil(
    'the image is ready',
    async () => JSON.stringify((await call('GET', '/tools/leaky'))['image']).includes('"ready"'),
    imageWaitMs,
  )
  const saved = await call('PUT', '/tools/leaky/config', { token: secret })
  assert.equal(saved['saved'], true)
  // Refusals must not repeat what was sent either.
  await call('PUT', '/tools/leaky/config', { token: secret, unknown: secret })
  await call('PUT', '/tools/leaky/config', { token: { secret } })
  await call('GET', '/tools/leaky/config')
  await call('POST', '/tools/leaky/test')
  for (const way of ways) {
    const ended = await call('POST', '/tools/leaky/invoke', { params: { way } })
    assert.equal(ended['status'], way === 'text' ? 'succeeded' : 'failed', JSON.stringify(ended))
    await call('GET', `/invocations/${String(ended['id'])}`)
  }
  await lookAtEngine(yard, call, spellingsOf(secret))
  await call('GET', '/invocations?limit=200')
  await call('GET', '/audit')
  await call('GET', '/tools')
  return answers
}

async function lookAtEngine(
  yard: Yard,
  call: (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>,
  spellings: readonly Buffer[],
): Promise<void> {
  const running = call('POST', '/tools/leaky/invoke', { params: { way: 'wait' } })
  const docker = openEngine(testDockerHost())
  const filters = { label: [`toolyard.instance=${yard.instance}`, 'toolyard.tool=leaky'] }
  const id = await waitUntil('it runs', () => findRunning(call))
  // A row that runs may still wait for its sandbox.
  const seen = await waitUntil('its sandbox is there', async () => {
    const found = await docker.listContainers({ all: true, filters })
    const inspected = await Promise.all(found.map(({ Id }) => inspect(docker, Id)))
    return inspected.some((one) => one?.State.Running) && inspected
  })
  const images = await docker.listImages({ filters })
  assert.ok(images.length > 0)
  const told = await Promise.all(
    images.map(async ({ Id }) => [await docker.getImage(Id).inspect(), await docker.getImage(Id).history()]),
  )
  const haystack = Buffer.from(JSON.stringify([seen, told]))
  assert.equal(findSpelling(spellings, haystack), undefined)
  await call('POST', `/invocations/${id}/cancel`)
  assert.equal((await running)['status'], 'cancelled')
  assert.ok(yard.processes().length > 0)
}

/** Undefined for a sandbox of a call before, which goes away meanwhile. */
async function inspect(docker: ReturnType<typeof openEngine>, id: string) {
  try {
    return await docker.getContainer(id).inspect()
  } catch (error) {
    if (error instanceof Error && 'statusCode' in error && error.statusCode === 404) return undefined
    throw error
  }
}

async function findRunning(
  call: (method: string, path: string) => Promise<Record<string, unknown>>,
): Promise<string | undefined> {
  const { invocations } = await call('GET', '/invocations?limit=5')
  // safe because this is what the route answers
  const listed = invocations as { id: string; status: string }[]
  return listed.find(({ status }) => status === 'running')?.id
}

/** Every row of every table, the queue's too, as text. */
async function dump(url: string): Promise<[string, string][]> {
  const pool = createPool({ url, max: 1, applicationName: 'toolyard-test', onIdleError: () => {} })
  try {
    const tables = await pool.query<{ name: string }>(`
      select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`)
    assert.ok(tables.rows.length > 10)
    const dumped: [string, string][] = []
    for (const { name } of tables.rows) {
      const rows = await pool.query<{ text: string }>(`select one::text as text from ${name} as one`)
      // Bytes are shown in hex, whose spelling is searched for too; what they hold is decoded besides.
      const text = rows.rows.map((row) => row.text).join('\n')
      const bytes = text.replaceAll(/\\x([0-9a-f]+)/g, (_, hex: string) =>
        Buffer.from(hex, 'hex').toString('latin1'),
      )
      dumped.push([name, `${text}\n${bytes}`])
    }
    return dumped
  } finally {
    await pool.end()
  }
}

function filesIn(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
  return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}
