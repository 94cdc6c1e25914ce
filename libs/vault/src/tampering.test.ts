import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { beforeEach, test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { testDatabase } from '@toolyard/testkit/database'
import { entry, open, operator, secret, vaultWith } from '../fixtures/vaults.ts'
import { deleteSetting } from './delete-setting.ts'
import { maskedSettings } from './masked-settings.ts'
import { putSettings } from './put-settings.ts'
import { readSettings } from './read-settings.ts'
import { rotateDataKeys } from './rotate-data-keys.ts'
import { rotateMasterKey } from './rotate-master-key.ts'
import type { SettingsSchema } from './settings-schema.ts'

// What somebody can do who writes to the database and has no key.

const { pool } = await testDatabase()
const [a, b] = [entry('a'), entry('b')]
const vault = await vaultWith(pool, a, b)
const other = await vaultWith(pool, b, a)
const schema: SettingsSchema = { token: secret, note: open }

const put = (tool: string, values: Record<string, string>) =>
  putSettings(vault, operator, { tool, schema, values })

beforeEach(async () => {
  await pool.query('truncate vault_settings, vault_data_keys')
  await put('mail', { token: 'c4n4ry-mail', note: 'c4n4ry-note' })
  await put('chat', { token: 'c4n4ry-chat', note: 'c4n4ry-talk' })
})

/** Whatever is read of the tool is refused, in words that hold nothing. */
async function unreadable(tool: string): Promise<void> {
  for (const reading of [readSettings, maskedSettings]) {
    await assert.rejects(reading(vault, tool, schema), (error) => {
      assert.ok(error instanceof AppError && error.code === 'secrets_unavailable', String(error))
      assert.ok(error.message.includes(tool))
      assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /c4n4ry/)
      return true
    })
  }
}

const readable = async (tool: string) => (await readSettings(vault, tool, schema)).settings['token']

const forgeries: [string, string][] = [
  [
    'a value of another key of the tool',
    `update vault_settings as s set sealed = o.sealed, secret = o.secret from vault_settings as o
     where s.tool = 'mail' and s.key = 'note' and o.tool = 'mail' and o.key = 'token'`,
  ],
  [
    'a value of another tool',
    `update vault_settings as s set sealed = o.sealed from vault_settings as o
     where s.tool = 'mail' and s.key = 'token' and o.tool = 'chat' and o.key = 'token'`,
  ],
  [
    'a value under another name',
    "update vault_settings set key = 'other' where tool = 'mail' and key = 'token'",
  ],
  [
    'a secret that is called none',
    "update vault_settings set secret = false where tool = 'mail' and key = 'token'",
  ],
  [
    'the data key of another tool',
    `update vault_data_keys as k set wrapped = o.wrapped from vault_data_keys as o
     where k.tool = 'mail' and o.tool = 'chat'`,
  ],
  [
    'data key and values of another tool together',
    `with keyed as (
       update vault_data_keys as k set wrapped = o.wrapped from vault_data_keys as o
       where k.tool = 'mail' and o.tool = 'chat')
     update vault_settings as s set sealed = o.sealed from vault_settings as o
     where s.tool = 'mail' and o.tool = 'chat' and o.key = s.key`,
  ],
  [
    'a data key under another master key',
    "update vault_data_keys set master_key_id = 'b' where tool = 'mail'",
  ],
  ['a value that is cut', "update vault_settings set sealed = substr(sealed, 1, 29) where tool = 'mail'"],
  ['a value of nothing', "update vault_settings set sealed = '' where tool = 'mail'"],
  ['a data key of nothing', "update vault_data_keys set wrapped = '' where tool = 'mail'"],
  [
    'a value of another version',
    "update vault_settings set sealed = set_byte(sealed, 0, 2) where tool = 'mail'",
  ],
  [
    'a bit that is turned in a data key',
    "update vault_data_keys set wrapped = set_bit(wrapped, 300, 1 - get_bit(wrapped, 300)) where tool = 'mail'",
  ],
  [
    'a value put where a value of a data key stands',
    "update vault_data_keys set wrapped = (select sealed from vault_settings limit 1) where tool = 'mail'",
  ],
]

for (const [what, forgery] of forgeries) {
  test(`${what} is noticed, and disturbs no other tool`, async () => {
    const { rowCount } = await pool.query(forgery)
    assert.ok((rowCount ?? 0) > 0, 'the forgery must have hit something')
    await unreadable('mail')
    assert.equal(await readable('chat'), 'c4n4ry-chat')
    const masterKey = await rotateMasterKey(other, operator)
    const dataKeys = await rotateDataKeys(other, operator)
    assert.ok(dataKeys.unreadable.includes('mail'), 'what is forged is never sealed anew as if it were right')
    assert.equal(
      masterKey.rewrapped + masterKey.unreadable.length,
      what.includes('another master key') ? 1 : 2,
    )
    await unreadable('mail')
    assert.equal(await readable('chat'), 'c4n4ry-chat')
  })
}

test('a damaged setting can be replaced, or deleted and set again', async () => {
  await pool.query("update vault_settings set sealed = '\\x01' where tool = 'mail'")
  await assert.rejects(put('mail', { note: 'new' }), { code: 'secrets_unavailable' })
  await put('mail', { note: 'new', token: 'c4n4ry-new' })
  assert.equal(await readable('mail'), 'c4n4ry-new')
  await pool.query("update vault_settings set sealed = '\\x01' where tool = 'mail' and key = 'token'")
  assert.equal(await deleteSetting(pool, operator, { tool: 'mail', key: 'token' }), true)
  assert.deepEqual((await readSettings(vault, 'mail', schema)).settings, { note: 'new' })
})

test('a damaged data key is mended by deleting the settings and setting them again', async () => {
  await pool.query("update vault_data_keys set wrapped = '\\x01' where tool = 'mail'")
  await assert.rejects(put('mail', { token: 'c4n4ry-new' }), {
    code: 'secrets_unavailable',
    message: /Delete them and set them again/,
  })
  for (const key of ['token', 'note'])
    assert.equal(await deleteSetting(pool, operator, { tool: 'mail', key }), true)
  await put('mail', { token: 'c4n4ry-new' })
  assert.equal(await readable('mail'), 'c4n4ry-new')
})
