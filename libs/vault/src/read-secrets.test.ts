import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { testDatabase } from '@toolyard/testkit/database'
import { entry, open, operator, secret, vaultWith } from '../fixtures/vaults.ts'
import { putSettings } from './put-settings.ts'
import { readSecrets } from './read-secrets.ts'

const { pool } = await testDatabase()
const vault = await vaultWith(pool, entry('a'))
const schema = { first: secret, second: secret, pin: secret, plain: open }

await putSettings(vault, operator, {
  tool: 'hook',
  schema,
  values: { first: 'c4n4ry-1', second: 'c4n4ry-2', pin: 1234, plain: 'p' },
})

test('the values of the named keys are read, in the order of their names', async () => {
  assert.deepEqual(await readSecrets(vault, 'hook', ['second', 'first']), ['c4n4ry-2', 'c4n4ry-1'])
  assert.deepEqual(await readSecrets(vault, 'hook', ['pin', 'plain', 'none']), ['1234', 'p'])
  assert.deepEqual(await readSecrets(vault, 'hook', []), [])
  assert.deepEqual(await readSecrets(vault, 'nobody', ['first']), [])
})

test('an empty one is none', async () => {
  await putSettings(vault, operator, { tool: 'hook', schema, values: { second: '' } })
  assert.deepEqual(await readSecrets(vault, 'hook', ['first', 'second']), ['c4n4ry-1'])
})

test('one that was changed in the database is refused, and disturbs nobody who does not ask for it', async () => {
  await pool.query(
    "update vault_settings set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where tool = 'hook' and key = 'pin'",
  )
  await assert.rejects(
    readSecrets(vault, 'hook', ['pin']),
    (error) => error instanceof AppError && error.code === 'secrets_unavailable',
  )
  assert.deepEqual(await readSecrets(vault, 'hook', ['first']), ['c4n4ry-1'])
})
