import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listAudit } from '@toolyard/access/list-audit'
import { AppError } from '@toolyard/contract/errors'
import { settingsBytesMax } from '@toolyard/contract/payload'
import { testDatabase } from '@toolyard/testkit/database'
import { count, entry, open, operator, secret, vaultWith, weather } from '../fixtures/vaults.ts'
import { maskedSettings } from './masked-settings.ts'
import type { GivenSettings } from './plan-put.ts'
import { putSettings } from './put-settings.ts'
import { readSettings } from './read-settings.ts'
import type { Scalar } from './setting.ts'
import type { SettingsSchema } from './settings-schema.ts'

const { pool } = await testDatabase()
const vault = await vaultWith(pool, entry('a'))

const put = (tool: string, values: GivenSettings, schema: SettingsSchema = weather) =>
  putSettings(vault, operator, { tool, schema, values })

const read = async (tool: string, schema: SettingsSchema = weather) =>
  (await readSettings(vault, tool, schema)).settings

const refused =
  (code: string, message: string | RegExp, ...pointers: string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof AppError, String(error))
    assert.deepEqual([error.code, error.faults.map((fault) => fault.pointer)], [code, pointers])
    assert.match(
      error.message,
      typeof message === 'string' ? new RegExp(`^${RegExp.escape(message)}$`) : message,
    )
    return true
  }

test('what is put is what the tool is given, beside the defaults and in its own type', async () => {
  const values = { api_key: 'c4n4ry "ü" 🔑\n\0', limit: -0.5, verbose: false }
  assert.deepEqual(await put('typed', values), ['api_key', 'limit', 'verbose'])
  assert.deepEqual(await read('typed'), { ...values, endpoint: 'https://api.example.com' })
  assert.deepEqual(await put('typed', { limit: '7', endpoint: 'http://other' }), ['endpoint', 'limit'])
  assert.deepEqual(await read('typed'), { ...values, limit: '7', endpoint: 'http://other' })
})

test('a change is audited with the names of its keys and never a value', async () => {
  await put('audited', { limit: 4_711, api_key: 'c4n4ry-put' })
  const [latest] = (await listAudit(pool, operator.actor)).entries
  assert.deepEqual(
    { ...latest, id: '', at: '' },
    {
      id: '',
      at: '',
      actor: 'operator',
      actor_name: 'operator',
      action: 'settings.put',
      target: 'tool:audited',
      detail: { keys: ['api_key', 'limit'] },
      request_id: 'req_1',
    },
  )
})

test('every refusal names what is wrong, and nothing is stored or audited, not even its good part', async () => {
  await put('strict', { api_key: 'before' })
  const before = [await count(pool, 'audit'), await count(pool, 'vault_settings')]
  const cases: [GivenSettings, (error: unknown) => boolean][] = [
    [{}, refused('invalid_config', 'The body must name at least one setting')],
    [{ api_key: 'x', nope: 1, bad: 2 }, refused('invalid_config', "Unknown config keys: ['bad', 'nope']")],
    [{ toString: 'x' }, refused('invalid_config', "Unknown config keys: ['toString']")],
    // safe because JSON.parse gives an own property of that name, as a body would
    [
      JSON.parse('{"__proto__": "x"}') as GivenSettings,
      refused('invalid_config', "Unknown config keys: ['__proto__']"),
    ],
    [{ "a'\u001b]": 'x' }, refused('invalid_config', "Unknown config keys: ['a???']")],
    [
      { api_key: null, limit: [1], endpoint: {}, verbose: Number.NaN },
      refused('invalid_config', /usable/, '/api_key', '/limit', '/endpoint', '/verbose'),
    ],
    [{ api_key: 'x', limit: Number.POSITIVE_INFINITY }, refused('invalid_config', /usable/, '/limit')],
    [{ api_key: 'x', limit: undefined }, refused('invalid_config', /usable/, '/limit')],
  ]
  for (const [values, check] of cases) await assert.rejects(put('strict', values), check)
  assert.deepEqual([await count(pool, 'audit'), await count(pool, 'vault_settings')], before)
  assert.equal((await read('strict'))['api_key'], 'before')
})

test('the list of unknown keys has an end', async () => {
  const values = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`${n}`.padStart(300, 'x'), 1]))
  await assert.rejects(
    put('strict', values),
    (error) => error instanceof AppError && error.message.length < 2_000,
  )
})

test('*** keeps the secret that is stored, and is refused where there is none', async () => {
  await assert.rejects(
    put('masks', { api_key: '***', limit: 1 }),
    refused('invalid_config', /usable/, '/api_key'),
  )
  assert.deepEqual(await read('masks'), { endpoint: 'https://api.example.com' })
  await put('masks', { api_key: 'kept' })
  const audited = await count(pool, 'audit')
  assert.deepEqual(await put('masks', { api_key: '***', limit: 1 }), ['api_key', 'limit'])
  assert.deepEqual(await read('masks'), { api_key: 'kept', limit: 1, endpoint: 'https://api.example.com' })
  assert.deepEqual((await listAudit(pool, operator.actor)).entries[0]?.detail, { keys: ['limit'] })
  assert.equal(await count(pool, 'audit'), (audited ?? 0) + 1)
  assert.deepEqual(await put('masks', { api_key: '***' }), ['api_key'])
  assert.equal(await count(pool, 'audit'), (audited ?? 0) + 1, 'nothing was changed')
})

test('what a GET answers can be PUT back and changes nothing', async () => {
  await put('round', { api_key: 'kept', limit: 5, endpoint: '***' })
  const before = await read('round')
  assert.equal(before['endpoint'], '***', 'no secret, so it means itself')
  await put('round', (await maskedSettings(vault, 'round', weather)).config)
  assert.deepEqual(await read('round'), before)
})

test('a secret stays one when a later manifest says that it is none, until it is stored anew', async () => {
  const honest: SettingsSchema = { token: { secret: true, required: false } }
  const curious: SettingsSchema = { token: { secret: false, required: false } }
  await put('flips', { token: 'c4n4ry-flip' }, honest)
  const masked = await maskedSettings(vault, 'flips', curious)
  assert.deepEqual(masked.config, { token: '***' })
  assert.deepEqual((await readSettings(vault, 'flips', curious)).secrets, ['c4n4ry-flip'])
  await put('flips', masked.config, curious)
  assert.deepEqual(await read('flips', curious), { token: 'c4n4ry-flip' })
  await put('flips', { token: 'public' }, curious)
  assert.deepEqual((await maskedSettings(vault, 'flips', curious)).config, { token: 'public' })
  assert.deepEqual((await maskedSettings(vault, 'flips', honest)).config, { token: '***' })
})

test('16 KiB of settings fit, defaults and escapes included, and not a byte more', async () => {
  const schema: SettingsSchema = { a: open, b: { ...open, default: 'x'.repeat(1_000) }, c: open }
  const frame = JSON.stringify({ a: '', b: 'x'.repeat(1_000) }).length
  const room = settingsBytesMax - frame
  await put('large', { a: 'y'.repeat(room) }, schema)
  assert.equal(Buffer.byteLength(JSON.stringify(await read('large', schema))), settingsBytesMax)
  for (const values of [
    { a: 'y'.repeat(room + 1) },
    { a: '"'.repeat(room / 2 + 1) },
    { a: 'ü'.repeat(room / 2 + 1) },
    { c: 1 },
  ])
    await assert.rejects(put('large', values, schema), refused('payload_too_large', /at most 16384/))
  await put('large', { b: '', c: 'z'.repeat(900) }, schema)
})

test('keys of schemas that are gone do not pile up without end', async () => {
  const schemaOf = (prefix: string): SettingsSchema =>
    Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`${prefix}${n}`, open]))
  const valuesOf = (prefix: string) =>
    Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`${prefix}${n}`, n]))
  await put('piles', valuesOf('a'), schemaOf('a'))
  await put('piles', valuesOf('b'), schemaOf('b'))
  await put('piles', valuesOf('a'), schemaOf('a'))
  await assert.rejects(
    put('piles', { c0: 1 }, schemaOf('c')),
    refused('payload_too_large', /501 settings stored, more than 500/),
  )
})

test('first PUTs of one tool at once make one data key, and all of them are stored', async () => {
  const keys = Array.from({ length: 12 }, (_, n) => `k${n}`)
  const schema: SettingsSchema = Object.fromEntries(keys.map((key) => [key, secret]))
  const before = (await count(pool, 'vault_data_keys')) ?? assert.fail()
  await Promise.all(keys.map((key) => put('racing', { [key]: `value of ${key}` }, schema)))
  assert.equal(await count(pool, 'vault_data_keys'), before + 1)
  assert.deepEqual(
    await read('racing', schema),
    Object.fromEntries(keys.map((key): [string, Scalar] => [key, `value of ${key}`])),
  )
})

test('PUTs of one tool at once cannot outgrow the limit together', async () => {
  const keys = Array.from({ length: 6 }, (_, n) => `k${n}`)
  const schema: SettingsSchema = Object.fromEntries(keys.map((key) => [key, open]))
  const results = await Promise.allSettled(
    keys.map((key) => put('crowded', { [key]: 'x'.repeat(5_000) }, schema)),
  )
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 3)
  assert.equal(Object.keys(await read('crowded', schema)).length, 3)
})
