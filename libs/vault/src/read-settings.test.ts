import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listAudit } from '@toolyard/access/list-audit'
import { testDatabase } from '@toolyard/testkit/database'
import { entry, open, operator, secret, vaultWith, weather } from '../fixtures/vaults.ts'
import { deleteSetting } from './delete-setting.ts'
import { maskedSettings } from './masked-settings.ts'
import { missingKeys } from './missing-keys.ts'
import { putSettings } from './put-settings.ts'
import { readSettings } from './read-settings.ts'
import type { SettingsSchema } from './settings-schema.ts'
import { storedKeys } from './stored-keys.ts'

const { pool } = await testDatabase()
const vault = await vaultWith(pool, entry('a'))

const put = (tool: string, schema: SettingsSchema, values: Record<string, string | number | boolean>) =>
  putSettings(vault, operator, { tool, schema, values })

test('a tool of which nothing is stored is given its defaults', async () => {
  assert.deepEqual(await readSettings(vault, 'fresh', weather), {
    settings: { endpoint: 'https://api.example.com' },
    secrets: [],
  })
  assert.deepEqual(await maskedSettings(vault, 'fresh', weather), { config: {}, set: [] })
  assert.deepEqual(await readSettings(vault, 'fresh', {}), { settings: {}, secrets: [] })
})

test('what the schema no longer names is not given, is masked, and must still not come back', async () => {
  await put(
    'changed',
    { old: secret, pin: secret, plain: open },
    { old: 'c4n4ry-old', pin: 12_345_678, plain: 'p' },
  )
  const schema: SettingsSchema = { pin: secret, fresh: open }
  const { settings, secrets } = await readSettings(vault, 'changed', schema)
  assert.deepEqual(settings, { pin: 12_345_678 })
  assert.deepEqual(secrets.toSorted(), ['12345678', 'c4n4ry-old', 'p'])
  assert.deepEqual(await maskedSettings(vault, 'changed', schema), {
    config: { old: '***', pin: '***', plain: '***' },
    set: ['pin'],
  })
})

test('secrets are named once, and an empty one is none', async () => {
  const schema: SettingsSchema = { a: { ...secret, required: false }, b: secret, c: secret, d: open }
  await put('twice', schema, { a: '', b: 'same', c: 'same', d: 'in the open' })
  assert.deepEqual((await readSettings(vault, 'twice', schema)).secrets, ['same'])
})

test('an empty string does not fill what is required; its default does', async () => {
  const schema: SettingsSchema = { a: secret, b: { ...open, required: true, default: 'b' }, c: open }
  await put('hollow', schema, { a: '', b: '', c: '' })
  assert.deepEqual((await readSettings(vault, 'hollow', schema)).settings, { b: 'b', c: '' })
  assert.deepEqual(await missingKeys(pool, 'hollow', schema), ['a'])
  assert.deepEqual((await maskedSettings(vault, 'hollow', schema)).set, [])
  assert.equal((await storedKeys(pool)).get('hollow'), undefined)
  await put('hollow', schema, { a: 'full' })
  assert.deepEqual(await missingKeys(pool, 'hollow', schema), [])
  assert.deepEqual((await storedKeys(pool)).get('hollow'), new Set(['a']))
})

test('false and 0 fill what is required', async () => {
  const schema: SettingsSchema = { a: secret, b: secret }
  await put('falsy', schema, { a: false, b: 0 })
  assert.deepEqual(await missingKeys(pool, 'falsy', schema), [])
  assert.deepEqual((await readSettings(vault, 'falsy', schema)).settings, { a: false, b: 0 })
})

test('missing keys come in the order of the schema; those with a default are none', async () => {
  const schema: SettingsSchema = {
    z: secret,
    a: secret,
    b: { ...open, required: true, default: false },
    c: open,
  }
  assert.deepEqual(await missingKeys(pool, 'gaps', schema), ['z', 'a'])
  await put('gaps', schema, { z: 'x' })
  assert.deepEqual(await missingKeys(pool, 'gaps', schema), ['a'])
  assert.deepEqual(await missingKeys(pool, 'gaps', {}), [])
})

test('settings named like methods of every object are settings', async () => {
  const schema: SettingsSchema = { constructor: secret, toString: open, valueOf: open }
  assert.deepEqual(await missingKeys(pool, 'methods', schema), ['constructor'])
  await put('methods', schema, { constructor: 'c', toString: 't' })
  const { settings } = await readSettings(vault, 'methods', schema)
  assert.deepEqual(Object.entries(settings), [
    ['constructor', 'c'],
    ['toString', 't'],
  ])
  assert.deepEqual((await maskedSettings(vault, 'methods', schema)).config, {
    constructor: '***',
    toString: 't',
  })
  assert.deepEqual((await maskedSettings(vault, 'methods', weather)).config, {
    constructor: '***',
    toString: '***',
  })
})

test('deleting tells whether there was something, audits it once, and leaves the others', async () => {
  await put('deleted', weather, { api_key: 'x', limit: 1 })
  const remove = (key: string) => deleteSetting(pool, operator, { tool: 'deleted', key })
  assert.equal(await remove('api_key'), true)
  const latest = async () => (await listAudit(pool, operator.actor)).entries[0]
  const first = await latest()
  assert.deepEqual(
    [first?.action, first?.target, first?.detail],
    ['settings.delete', 'tool:deleted', { keys: ['api_key'] }],
  )
  for (const key of ['api_key', 'never', '', 'a\0b', "'; --"]) assert.equal(await remove(key), false)
  assert.equal((await latest())?.id, first?.id)
  assert.deepEqual((await readSettings(vault, 'deleted', weather)).settings, {
    limit: 1,
    endpoint: 'https://api.example.com',
  })
  assert.equal(await deleteSetting(pool, operator, { tool: 'other', key: 'limit' }), false)
})

test('of many deletions at once, one finds it', async () => {
  await put('once', weather, { limit: 1 })
  const found = await Promise.all(
    Array.from({ length: 6 }, () => deleteSetting(pool, operator, { tool: 'once', key: 'limit' })),
  )
  assert.equal(found.filter(Boolean).length, 1)
})

test('the data key goes with the last setting, and PUTs and deletions at once lose nothing', async () => {
  const keyOf = async () =>
    (await pool.query("select 1 from vault_data_keys where tool = 'comes and goes'")).rowCount
  const remove = () => deleteSetting(pool, operator, { tool: 'comes and goes', key: 'limit' })
  await put('comes and goes', weather, { limit: 1, api_key: 'x' })
  await remove()
  assert.equal(await keyOf(), 1)
  await deleteSetting(pool, operator, { tool: 'comes and goes', key: 'api_key' })
  assert.equal(await keyOf(), 0)
  for (let round = 0; round < 20; round++) {
    await Promise.all([
      put('comes and goes', weather, { limit: round }),
      remove(),
      put('comes and goes', weather, { limit: round }),
      remove(),
    ])
    await put('comes and goes', weather, { limit: round + 100 })
    assert.equal((await readSettings(vault, 'comes and goes', weather)).settings['limit'], round + 100)
  }
  await remove()
  assert.equal(await keyOf(), 0)
})
