import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '@toolyard/contract/scopes'
import { toolShape } from '@toolyard/contract/tools'
import { testDatabase } from '@toolyard/testkit/database'
import { z } from 'zod'
import { bodyOf, problemOf, refusalOf } from '../../fixtures/answers.ts'
import { buildTool, newManifest, publishTools } from '../../fixtures/published-tools.ts'
import { callerOf } from '../../fixtures/caller.ts'
import { testApi } from '../../fixtures/test-api.ts'
import { makeKey } from '../../fixtures/test-keys.ts'

const { url: databaseUrl, pool } = await testDatabase()
const api = await testApi({ databaseUrl })
const admin = await makeKey(pool, { scopes: [...scopes] })

const toolList = z.strictObject({ tools: z.array(toolShape), count: z.int() })

const weather = newManifest('weather', {
  config_schema: {
    api_key: { description: 'Your API key', secret: true, required: true },
    endpoint: { description: 'API endpoint URL', default: 'https://api.example.com' },
  },
})
await publishTools(
  pool,
  [newManifest('plain'), weather],
  [{ folder: 'broken', faults: ['manifest.json: is missing'] }],
)
await buildTool(pool, 'plain')

const call = callerOf(api.url, admin.token)

test('the list is the truth: what is ready, what is building, what is broken', async () => {
  const { tools, count } = await bodyOf(await call('GET', '/tools'), toolList)
  assert.equal(count, 3)
  assert.deepEqual(
    tools.map(({ name, status, enabled, image }) => [name, status, enabled, image.state, image.error]),
    [
      ['broken', 'system', false, 'error', 'manifest.json: is missing'],
      ['plain', 'system', true, 'ready', null],
      ['weather', 'available', true, 'building', null],
    ],
  )
  const plain = tools[1]
  assert.deepEqual(Object.keys(plain?.parameters ?? {}), ['zeta', 'alpha'], 'in the order of their author')
  assert.deepEqual(plain?.serving, { version: 'latest', hash: 'plain-1' })
  assert.deepEqual(plain?.warnings, ['the ENTRYPOINT is in shell form'])
  assert.equal(tools[2]?.serving, undefined)
})

test('one tool is shown alone, and one that does not exist is told so', async () => {
  const one = await bodyOf(await call('GET', '/tools/plain'), toolShape.extend({ progress: z.null() }))
  assert.equal(one.name, 'plain')
  assert.equal(await refusalOf(await call('GET', '/tools/none')), '404 unknown_tool')
  assert.equal((await problemOf(await call('GET', '/tools/none'))).detail, 'Unknown tool: none')
})

test('settings are stored, masked, tested and deleted with the words of old', async () => {
  const json = async (answer: Response): Promise<unknown> => answer.json()
  assert.deepEqual(await json(await call('POST', '/tools/weather/test')), {
    ok: false,
    message: "Missing required config: ['api_key']",
  })
  const put = await call('PUT', '/tools/weather/config', { api_key: 'sk-12345678', endpoint: 'https://a' })
  assert.deepEqual(await json(put), { saved: true, tool_name: 'weather', keys: ['api_key', 'endpoint'] })
  assert.deepEqual(await json(await call('POST', '/tools/weather/test')), {
    ok: true,
    message: 'Configuration looks complete',
  })
  const shown = await json(await call('GET', '/tools/weather/config'))
  assert.deepEqual(shown, {
    tool_name: 'weather',
    config_schema: weather.config_schema,
    config: { api_key: '***', endpoint: 'https://a' },
  })
  const list = await bodyOf(await call('GET', '/tools'), toolList)
  assert.equal(list.tools.find(({ name }) => name === 'weather')?.status, 'connected')
  assert.deepEqual(await json(await call('DELETE', '/tools/weather/config/api_key')), {
    deleted: true,
    tool_name: 'weather',
    key: 'api_key',
  })
  assert.deepEqual(await json(await call('DELETE', '/tools/weather/config/api_key')), {
    deleted: false,
    tool_name: 'weather',
    key: 'api_key',
  })
  const unknown = await problemOf(await call('PUT', '/tools/weather/config', { api_kee: 'x' }))
  assert.deepEqual([unknown.status, unknown.detail], [400, "Unknown config keys: ['api_kee']"])
  for (const [method, path] of [
    ['GET', '/tools/none/config'],
    ['DELETE', '/tools/none/config/a'],
    ['POST', '/tools/none/test'],
  ] as const)
    assert.equal(await refusalOf(await call(method, path)), '404 unknown_tool', `${method} ${path}`)
  assert.equal(await refusalOf(await call('PUT', '/tools/weather/config', {})), '422 invalid_request')
  assert.equal(await refusalOf(await call('GET', '/tools/broken/config')), '503 image_failed')
  assert.ok(!api.logText().includes('sk-12345678'))
})

test('a tool and all tools are turned off and on', async () => {
  assert.equal((await call('POST', '/tools/plain/disable')).status, 200)
  const listed = await bodyOf(await call('GET', '/tools/plain'), toolShape.extend({ progress: z.null() }))
  assert.equal(listed.enabled, false)
  assert.equal((await call('POST', '/tools/plain/enable')).status, 200)
  assert.equal(await refusalOf(await call('POST', '/tools/none/disable')), '404 unknown_tool')

  const off = await call('PUT', '/settings/tools_enabled', { enabled: false })
  assert.deepEqual(await off.json(), { enabled: false })
  assert.deepEqual(await (await call('GET', '/settings/tools_enabled')).json(), { enabled: false })
  await call('PUT', '/settings/tools_enabled', { enabled: true })
  assert.equal(
    await refusalOf(await call('PUT', '/settings/tools_enabled', { on: 1 })),
    '422 invalid_request',
  )
})

test('versions are listed, and there is nothing to go back to', async () => {
  const versions = z.object({
    versions: z.array(z.looseObject({ hash: z.string(), is_current: z.boolean() })),
  })
  const listed = await bodyOf(await call('GET', '/tools/plain/versions'), versions)
  assert.deepEqual(
    listed.versions.map(({ hash, is_current }) => [hash, is_current]),
    [['plain-1', true]],
  )
  assert.equal(await refusalOf(await call('POST', '/tools/plain/rollback', {})), '404 not_found')
  assert.equal(await refusalOf(await call('POST', '/tools/plain/rollback')), '404 not_found')
  assert.equal(
    await refusalOf(await call('POST', '/tools/plain/rollback', { to: 'x' })),
    '422 invalid_request',
  )
  assert.equal(await refusalOf(await call('GET', '/tools/none/versions')), '404 unknown_tool')
})

test('a wish to reload that no worker hears says so', async () => {
  const answer = await call('POST', '/tools/reload')
  assert.deepEqual(await answer.json(), { reloaded: false, workers: 0, tools: 0, faults: [] })
})

test('a key that is bound to tools sees and touches no others', async () => {
  const bound = await makeKey(pool, { scopes: [...scopes], tools: ['plain'] })
  const { tools } = await bodyOf(await call('GET', '/tools', undefined, bound.token), toolList)
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['plain'],
  )
  for (const [method, path, body] of [
    ['GET', '/tools/weather'],
    ['GET', '/tools/weather/config'],
    ['PUT', '/tools/weather/config', { endpoint: 'x' }],
    ['DELETE', '/tools/weather/config/endpoint'],
    ['POST', '/tools/weather/test'],
    ['POST', '/tools/weather/disable'],
    ['GET', '/tools/weather/versions'],
    ['POST', '/tools/weather/rollback', {}],
  ] as const)
    assert.equal(
      await refusalOf(await call(method, path, body, bound.token)),
      '404 unknown_tool',
      `${method} ${path}`,
    )
  const refused = await call('PUT', '/settings/tools_enabled', { enabled: false }, bound.token)
  assert.equal(await refusalOf(refused), '403 missing_scope')
})

test('each route asks for its scope', async () => {
  const none = await makeKey(pool, { scopes: ['ops:view'] })
  for (const [method, path, body] of [
    ['GET', '/tools'],
    ['GET', '/tools/plain'],
    ['GET', '/tools/plain/config'],
    ['PUT', '/tools/plain/config', { a: 1 }],
    ['DELETE', '/tools/plain/config/a'],
    ['POST', '/tools/plain/test'],
    ['POST', '/tools/plain/enable'],
    ['POST', '/tools/plain/disable'],
    ['POST', '/tools/reload'],
    ['GET', '/tools/plain/versions'],
    ['POST', '/tools/plain/rollback', {}],
    ['GET', '/settings/tools_enabled'],
    ['PUT', '/settings/tools_enabled', { enabled: false }],
  ] as const)
    assert.equal(
      await refusalOf(await call(method, path, body, none.token)),
      '403 missing_scope',
      `${method} ${path}`,
    )
})
