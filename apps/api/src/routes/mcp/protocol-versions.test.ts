import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { success } from '@toolyard/invocations/fixtures/outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { mcpClient } from '../../fixtures/mcp-client.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { makeKey } from '../../fixtures/test-keys.ts'
import { workerHand } from '../../fixtures/worker-hand.ts'

// Clients that speak one version each, as those that are not of the newest generation do.

const { url: databaseUrl, pool } = await testDatabase()
const { url } = await testApi({ databaseUrl })
const { token } = await makeKey(pool, { scopes: ['tools:read', 'tools:invoke', 'invocations:read'] })
await publishTools(pool, [newManifest('weather', { parameters: {} })])
await buildTool(pool, 'weather')
const worker = await workerHand(pool)
const call = { name: 'weather', arguments: {} }

test('the page names every version that is spoken', () => {
  const page = readFileSync(new URL('../../../../../docs/agents.md', import.meta.url), 'utf8')
  assert.ok(SUPPORTED_PROTOCOL_VERSIONS.length >= 5)
  for (const version of [...SUPPORTED_PROTOCOL_VERSIONS, '2026-07-28'])
    assert.ok(page.includes(version), version)
})

for (const version of SUPPORTED_PROTOCOL_VERSIONS)
  test(`a client of ${version} lists, calls, is told how it stands, reads and ends`, async () => {
    const client = await mcpClient({ url, token, era: 'legacy', version })
    assert.equal(client.getNegotiatedProtocolVersion(), version)
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['weather'],
    )

    const told: (string | undefined)[] = []
    const calling = client.callTool(call, { onprogress: ({ message }) => void told.push(message) })
    await waitUntil('it to be told that it waits', () => told[0]?.startsWith('queued'))
    const id = await worker.run('weather', success)
    assert.deepEqual((await calling).content, [{ type: 'text', text: 'sunny' }])
    const { contents } = await client.readResource({ uri: `toolyard://invocations/${id}/result` })
    assert.match(JSON.stringify(contents), /succeeded/)

    const controller = new AbortController()
    const ended = client.callTool(call, { signal: controller.signal })
    const endedId = await worker.queued('weather')
    controller.abort()
    await assert.rejects(ended, /operation was aborted/)
    await waitUntil('it to be cancelled', async () => {
      const { rows } = await pool.query('select status from invocations where id = $1', [endedId])
      return rows[0]?.status === 'cancelled'
    })
  })
