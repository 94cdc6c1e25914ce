import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configComplete, configMissing, configUnknownKeys, unknownTool } from './config-messages.ts'
import type { Manifest } from './manifest.ts'
import { parseManifest } from './parse-manifest.ts'
import { configBody, toolListShape, toolShape, toolsEnabledShape } from './tools.ts'

const listed = (manifest: Manifest) => ({
  ...manifest,
  category: manifest.category ?? null,
  icon: manifest.icon ?? null,
  status: 'system' as const,
  enabled: true,
  image: { state: 'ready' as const, hash: 'abc', error: null },
  warnings: [],
})

test('a parsed manifest is listed without what a caller does not need', () => {
  const parsed = parseManifest({
    name: 'a',
    description: 'A',
    trigger: { type: 'cron', schedule: '*/5', prompt: 'not for callers' },
    parameters: { p: { type: 'array', items: { type: 'string' }, default: ['x'] } },
    returns: {},
    config_schema: { key: { secret: true } },
  })
  assert.ok('manifest' in parsed)
  const shown = toolShape.parse(listed(parsed.manifest))
  assert.deepEqual(shown.trigger, { type: 'cron', schedule: '*/5', timezone: 'UTC' })
  assert.deepEqual(shown.parameters, parsed.manifest.parameters)
  assert.deepEqual(shown.config_schema, { key: { secret: true, required: false } })
  assert.ok(!('constraints' in shown))
})

test('a broken tool stands in the list like the others, with its fault', () => {
  const broken = {
    name: 'folder',
    description: '',
    version: 'latest',
    category: null,
    icon: null,
    trigger: { type: 'on_demand' },
    status: 'available',
    enabled: false,
    image: { state: 'error', hash: null, error: '/name is required' },
    parameters: {},
    config_schema: {},
    warnings: [],
  }
  const list = { tools: [broken], count: 1 }
  assert.deepEqual(toolListShape.parse(list), list)
})

test('settings are stored as one or more scalars', () => {
  const body = { api_key: 'sk-…', endpoint: 'https://…', pem: 'a\nb', n: 1.5, on: false, empty: '' }
  assert.deepEqual(configBody.parse(body), body)
  for (const bad of [
    {},
    [],
    null,
    'x',
    { a: null },
    { a: {} },
    { a: ['x'] },
    { a: '\0' },
    { a: '\ud800' },
    { a: 'x'.repeat(16_385) },
  ])
    assert.ok(!configBody.safeParse(bad).success, JSON.stringify(bad).slice(0, 80))
  assert.ok(
    !configBody.safeParse(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, 1]))).success,
  )
  assert.ok(!configBody.safeParse(JSON.parse('{"__proto__":"x","a":"b"}')).success)
})

test('the switch takes true or false and nothing beside it', () => {
  assert.deepEqual(toolsEnabledShape.parse({ enabled: false }), { enabled: false })
  for (const bad of [{}, { enabled: 'false' }, { enabled: 0 }, { enabled: true, force: true }])
    assert.ok(!toolsEnabledShape.safeParse(bad).success)
})

test('the words of the configuration are those that programs know', () => {
  assert.equal(configComplete, 'Configuration looks complete')
  assert.equal(configMissing(['api_key', 'b']), "Missing required config: ['api_key', 'b']")
  assert.equal(configUnknownKeys(['x']), "Unknown config keys: ['x']")
  assert.equal(unknownTool('my_tool'), 'Unknown tool: my_tool')
})
