import assert from 'node:assert/strict'
import { test } from 'node:test'
import { functionName } from '@toolyard/contract/function-schemas'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import { bodyOf, problemOf } from '../../fixtures/answers.ts'
import { newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { bearer, makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const reader = await makeKey(pool, { scopes: ['tools:read'] })
const bound = await makeKey(pool, { scopes: ['tools:read'], tools: ['plain'] })

await publishTools(
  pool,
  [
    newManifest('plain'),
    newManifest('other'),
    newManifest('lacking', { config_schema: { token: { secret: true, required: true } } }),
    newManifest('filled', { config_schema: { place: { default: 'here', required: true } } }),
    newManifest('daily', { trigger: { type: 'cron', schedule: '0 8 * * *', prompt: 'Do it' } }),
    newManifest('switched'),
  ],
  [{ folder: 'broken', faults: ['manifest.json: is missing'] }],
)
await pool.query(`update tools set enabled = false where name = 'switched'`)

const get = (path: string, token = reader.token) => fetch(`${api.url}${path}`, { headers: bearer(token) })
const list = z.strictObject({ tools: z.array(z.record(z.string(), z.unknown())), count: z.int() })

const schema = {
  type: 'object',
  properties: { zeta: { type: 'string' }, alpha: { type: 'integer', minimum: 1 } },
  required: ['zeta'],
  additionalProperties: false,
}

test('the tools that a model can call are listed in the form of each provider', async () => {
  const description = 'What plain does'
  const forms = {
    openai: { type: 'function', function: { name: 'plain', description, parameters: schema } },
    anthropic: { name: 'plain', description, input_schema: schema },
    mcp: { name: 'plain', description, inputSchema: schema },
  }
  for (const [format, form] of Object.entries(forms)) {
    const { tools, count } = await bodyOf(await get(`/tools?format=${format}`, bound.token), list)
    assert.deepEqual(tools, [form])
    assert.equal(count, 1)
  }
})

test('what could only be refused is left out: broken, switched off, without its settings, or not called on demand', async () => {
  const { tools } = await bodyOf(await get('/tools?format=anthropic'), list)
  const names = tools.map(({ name }) => String(name))
  assert.deepEqual(names, ['filled', 'other', 'plain'])
  for (const name of names) assert.match(name, functionName)
})

test('a format that nobody speaks is refused with those that there are', async () => {
  const problem = await problemOf(await get('/tools?format=gemini'))
  assert.equal(problem.code, 'invalid_request')
  assert.match(problem.faults?.[0]?.detail ?? '', /openai.*anthropic.*mcp/)
  assert.equal((await problemOf(await get('/tools?fromat=openai'))).code, 'invalid_request')
})
