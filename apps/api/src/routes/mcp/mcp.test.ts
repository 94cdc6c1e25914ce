import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Progress } from '@modelcontextprotocol/client'
import { failure, result, success } from '@toolyard/invocations/fixtures/outcomes'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { McpEra } from '../../fixtures/mcp-client.ts'
import { mcpClient } from '../../fixtures/mcp-client.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { makeKey } from '../../fixtures/test-keys.ts'
import { workerHand } from '../../fixtures/worker-hand.ts'

const { url: databaseUrl, pool } = await testDatabase()
const { url } = await testApi({ databaseUrl })
const { token } = await makeKey(pool, {
  scopes: ['tools:read', 'tools:invoke', 'invocations:read', 'invocations:raw'],
})
await publishTools(pool, [newManifest('weather'), newManifest('b-side'), newManifest('another')])
for (const name of ['weather', 'b-side', 'another']) await buildTool(pool, name)
const worker = await workerHand(pool)
const given = { name: 'weather', arguments: { zeta: 'x' } }

const statusOf = async (id: string) => {
  const { rows } = await pool.query<{ status: string; asked: boolean }>(
    'select status, cancel_requested_at is not null as asked from invocations where id = $1',
    [id],
  )
  return rows[0]
}

for (const era of ['modern', 'legacy'] satisfies McpEra[]) {
  const client = await mcpClient({ url, token, era })

  test(`${era}: the version is agreed on, and what there is is told`, () => {
    assert.equal(client.getNegotiatedProtocolVersion(), era === 'modern' ? '2026-07-28' : '2025-11-25')
    assert.equal(client.getServerVersion()?.name, 'toolyard')
    const capabilities = client.getServerCapabilities()
    const unwatched = { listChanged: false }
    assert.deepEqual([capabilities?.tools, capabilities?.resources], [unwatched, unwatched])
    assert.equal(capabilities?.extensions !== undefined, era === 'modern')
  })

  test(`${era}: the tools of the key are listed by name, with their schemas`, async () => {
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['another', 'b-side', 'weather'],
    )
    assert.equal(tools[2]?.description, 'What weather does')
    assert.deepEqual(tools[2]?.inputSchema, {
      type: 'object',
      properties: { zeta: { type: 'string' }, alpha: { type: 'integer', minimum: 1 } },
      required: ['zeta'],
      additionalProperties: false,
    })
  })

  test(`${era}: a call waits for its end, saying how it stands, and answers with text and structure`, async () => {
    const told: Progress[] = []
    const calling = client.callTool(given, { onprogress: (progress) => void told.push(progress) })
    const id = await worker.queued('weather')
    const attempt = await worker.claim(id)
    await waitUntil('it to be told that it runs', () => told.some(({ message }) => message === 'running'))
    await worker.end(attempt, {
      kind: 'succeeded',
      result: { ...result, title: 'Today', data: { degrees: 31 } },
    })
    const answer = await calling
    assert.deepEqual(answer.content, [{ type: 'text', text: 'sunny' }])
    assert.deepEqual(answer.structuredContent, {
      invocation_id: id,
      status: 'succeeded',
      text: 'sunny',
      title: 'Today',
      data: { degrees: 31 },
    })
    assert.notEqual(answer.isError, true)
    assert.ok(told[0]?.message?.startsWith('queued'), String(told[0]?.message))
    const steps = told.map(({ progress }) => progress)
    assert.deepEqual(
      steps,
      steps.map((_, index) => index + 1),
    )
  })

  test(`${era}: a tool that fails, and params that do not fit, are results that a model can read`, async () => {
    const calling = client.callTool(given)
    const id = await worker.run('weather', failure)
    const failed = await calling
    assert.equal(failed.isError, true)
    assert.deepEqual(failed.content, [{ type: 'text', text: 'Error: tool_error: no such city' }])
    assert.deepEqual(failed.structuredContent, {
      invocation_id: id,
      status: 'failed',
      failure: failure.failure,
    })
    const unfit = await client.callTool({ name: 'weather', arguments: { alpha: 0 } })
    assert.equal(unfit.isError, true)
    assert.match(JSON.stringify(unfit.content), /invalid_params.*\/params\/zeta is required/)
  })

  test(`${era}: a tool that there is not is an error of the protocol`, async () => {
    await assert.rejects(client.callTool({ name: 'none' }), /Unknown tool: none/)
    await assert.rejects(client.listTools({ cursor: '§' }), /cursor/)
  })

  test(`${era}: a call survives the worker that ran it`, async () => {
    const calling = client.callTool(given)
    const id = await worker.queued('weather')
    await worker.claim(id)
    await worker.lose(id)
    await worker.end(await worker.claim(id, 2), success)
    const { content, structuredContent } = await calling
    assert.deepEqual(content, [{ type: 'text', text: 'sunny' }])
    assert.deepEqual(structuredContent, { invocation_id: id, status: 'succeeded', text: 'sunny' })
  })

  test(`${era}: who ends a call ends what runs for it`, async () => {
    const controller = new AbortController()
    const calling = client.callTool(given, { signal: controller.signal })
    const id = await worker.queued('weather')
    const attempt = await worker.claim(id)
    controller.abort()
    await assert.rejects(calling, /operation was aborted/)
    await waitUntil('the worker to be told', async () => (await statusOf(id))?.asked)
    await worker.end(attempt, success)
    assert.equal((await statusOf(id))?.status, 'cancelled')
  })

  test(`${era}: a call that only waits is ended where it waits`, async () => {
    const controller = new AbortController()
    const calling = client.callTool(given, { signal: controller.signal })
    const id = await worker.queued('weather')
    controller.abort()
    await assert.rejects(calling, /operation was aborted/)
    await waitUntil('it to be cancelled', async () => (await statusOf(id))?.status === 'cancelled')
  })

  test(`${era}: the result and the end of stderr stay readable`, async () => {
    const calling = client.callTool(given)
    const id = await worker.run('weather', success)
    await calling
    const { resources } = await client.listResources()
    const uri = `toolyard://invocations/${id}/result`
    assert.equal(resources[0]?.uri, uri)
    const read = await client.readResource({ uri })
    const [content] = read.contents
    assert.ok(content !== undefined && 'text' in content)
    const shape: unknown = JSON.parse(content.text)
    assert.ok(typeof shape === 'object' && shape !== null && 'status' in shape)
    assert.equal(shape.status, 'succeeded')
    const stderr = await client.readResource({ uri: `toolyard://invocations/${id}/stderr` })
    assert.deepEqual(stderr.contents, [
      {
        uri: `toolyard://invocations/${id}/stderr`,
        mimeType: 'text/plain',
        text: 'the end of stderr',
      },
    ])
    const { resourceTemplates } = await client.listResourceTemplates()
    assert.equal(resourceTemplates.length, 2)
  })

  test(`${era}: what the key may not see is not there, and what it may not do is refused`, async () => {
    const calling = client.callTool(given)
    const id = await worker.run('weather', success)
    await calling
    const bound = await makeKey(pool, {
      scopes: ['tools:read', 'tools:invoke', 'invocations:read'],
      tools: ['another'],
    })
    const other = await mcpClient({ url, token: bound.token, era })
    assert.deepEqual(
      (await other.listTools()).tools.map(({ name }) => name),
      ['another'],
    )
    await assert.rejects(other.callTool(given), /Unknown tool: weather/)
    for (const part of ['result', 'stderr', 'other'])
      await assert.rejects(other.readResource({ uri: `toolyard://invocations/${id}/${part}` }), part)
    const reader = await mcpClient({
      url,
      token: (await makeKey(pool, { scopes: ['tools:read'] })).token,
      era,
    })
    await assert.rejects(reader.callTool(given), /tools:invoke/)
    await assert.rejects(reader.listResources(), /invocations:read/)
    const { rows } = await pool.query(`select 1 from invocations where tool = 'another'`)
    assert.equal(rows.length, 0)
  })
}
