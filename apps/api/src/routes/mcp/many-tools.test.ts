import assert from 'node:assert/strict'
import { test } from 'node:test'
import { success } from '@toolyard/invocations/fixtures/outcomes'
import { writeEnds } from '@toolyard/ends/write-ends'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import { mcpClient } from '../../fixtures/mcp-client.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { makeKey } from '../../fixtures/test-keys.ts'
import { workerHand } from '../../fixtures/worker-hand.ts'

const { url: databaseUrl, pool } = await testDatabase()
const { url } = await testApi({ databaseUrl })
const { token } = await makeKey(pool, { scopes: ['tools:read', 'tools:invoke'] })
const fillers = Array.from({ length: 250 }, (_, index) => `tool-${String(index).padStart(3, '0')}`)
await publishTools(pool, [
  ...fillers.map((name) => newManifest(name)),
  newManifest('weather', { description: 'The forecast for a city' }),
])
await buildTool(pool, 'weather')
const worker = await workerHand(pool, writeEnds({ warn: () => {} }))

const foundShape = z.strictObject({
  search_id: z.string(),
  nothing_fits: z.boolean(),
  tools: z.array(z.unknown()),
})

test('the list comes in pages, each tool once, in order', async () => {
  const client = await mcpClient({ url, token, era: 'legacy' })
  const names: string[] = []
  const sizes: number[] = []
  for (let cursor: string | undefined; ;) {
    const page = await client.request({
      method: 'tools/list',
      params: cursor === undefined ? {} : { cursor },
    })
    names.push(...page.tools.map(({ name }) => name))
    sizes.push(page.tools.length)
    cursor = page.nextCursor
    if (cursor === undefined) break
  }
  assert.deepEqual(sizes, [100, 100, 53])
  assert.deepEqual(names, ['call_tool', 'find_tools', ...fillers, 'weather'])
})

test('a model that is shown two tools finds and calls all of them', async () => {
  const client = await mcpClient({ url, token, era: 'modern', query: '?tools=find' })
  const { tools } = await client.listTools()
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['call_tool', 'find_tools'],
  )
  const found = await client.callTool({
    name: 'find_tools',
    arguments: { query: 'weather forecast', limit: 3 },
  })
  const { search_id, tools: best } = foundShape.parse(found.structuredContent)
  assert.equal(best.length, 3)
  assert.deepEqual(found.content, [{ type: 'text', text: JSON.stringify(found.structuredContent) }])
  assert.deepEqual(best[0], {
    name: 'weather',
    description: 'The forecast for a city',
    inputSchema: {
      type: 'object',
      properties: { zeta: { type: 'string' }, alpha: { type: 'integer', minimum: 1 } },
      required: ['zeta'],
      additionalProperties: false,
    },
  })
  const calling = client.callTool({
    name: 'call_tool',
    arguments: { name: 'weather', arguments: { zeta: 'x' }, search_id },
  })
  const id = await worker.run('weather', success)
  assert.deepEqual((await calling).content, [{ type: 'text', text: 'sunny' }])
  const { rows } = await pool.query('select invocation_id, query from lessons')
  assert.deepEqual(rows, [{ invocation_id: id, query: 'weather forecast' }])
})

test('what a model leaves empty is left out', async () => {
  const client = await mcpClient({ url, token, era: 'modern', query: '?tools=find' })
  const found = await client.callTool({ name: 'find_tools', arguments: { query: 'weather', limit: '' } })
  assert.equal(foundShape.parse(found.structuredContent).tools.length, 5)
  const calling = client.callTool({
    name: 'call_tool',
    arguments: { name: 'weather', arguments: { zeta: '' }, search_id: '' },
  })
  await worker.run('weather', success)
  assert.deepEqual((await calling).content, [{ type: 'text', text: 'sunny' }])
  const without = await client.callTool({ name: 'call_tool', arguments: { name: 'weather', arguments: '' } })
  assert.match(JSON.stringify(without.content), /zeta is required/)
})

test('what is asked of these two in a wrong way is a result that says so', async () => {
  const client = await mcpClient({ url, token, era: 'modern', query: '?tools=find' })
  for (const [name, given] of [
    ['find_tools', {}],
    ['find_tools', { query: 'x', limit: 21 }],
    ['find_tools', { query: ' ' }],
    ['find_tools', { query: 'x'.repeat(2_001) }],
    ['call_tool', { name: 'weather', search_id: 7 }],
    ['call_tool', {}],
    ['call_tool', { name: 'weather', arguments: [] }],
  ] as const) {
    const answer = await client.callTool({ name, arguments: given })
    assert.equal(answer.isError, true, name)
    assert.match(JSON.stringify(answer.content), /invalid_params/)
  }
  const inward = client.callTool({ name: 'call_tool', arguments: { name: 'call_tool' } })
  await assert.rejects(inward, /Unknown tool: call_tool/)
})

test('where there are few tools the two are not there', async () => {
  const bound = await makeKey(pool, { scopes: ['tools:read', 'tools:invoke'], tools: ['weather'] })
  const client = await mcpClient({ url, token: bound.token, era: 'modern' })
  assert.deepEqual(
    (await client.listTools()).tools.map(({ name }) => name),
    ['weather'],
  )
  await assert.rejects(client.callTool({ name: 'find_tools', arguments: { query: 'x' } }), /Unknown tool/)
})
