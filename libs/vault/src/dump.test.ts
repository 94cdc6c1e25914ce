import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { testDatabase } from '@toolyard/testkit/database'
import { entry, open, operator, secret, vaultWith } from '../fixtures/vaults.ts'
import { deleteSetting } from './delete-setting.ts'
import { maskedSettings } from './masked-settings.ts'
import { putSettings } from './put-settings.ts'
import { readSettings } from './read-settings.ts'
import { rotateDataKeys } from './rotate-data-keys.ts'
import { rotateMasterKey } from './rotate-master-key.ts'

const { pool } = await testDatabase()

/** Every row of every table as text, in which bytes are hex. */
async function dump(): Promise<string> {
  const tables = await pool.query<{ name: string }>(`
    select format('%I.%I', table_schema, table_name) as name
    from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`)
  const texts: string[] = []
  for (const { name } of tables.rows) {
    const { rows } = await pool.query<{ row: string }>(`select one::text as row from ${name} as one`)
    texts.push(...rows.map(({ row }) => `${name} ${row}`))
  }
  return texts.join('\n')
}

/** The forms in which a text could stand somewhere, in base64 at any of its three offsets. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  const encoded = [0, 1, 2].flatMap((offset) =>
    (['base64', 'base64url'] as const).map((form) =>
      Buffer.concat([Buffer.alloc(offset), bytes])
        .toString(form)
        .slice(4, -4),
    ),
  )
  return [
    text,
    bytes.toString('hex'),
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
    ...encoded,
  ]
}

test('neither a value nor a key is anywhere in the database, whatever was done with it (I6)', async () => {
  const [a, b] = [entry('a'), entry('b')]
  const schema = { token: secret, note: open, pin: secret }
  const canaries = ['c4n4ry/token+"ä"', 'c4n4ry/note=&?', '4711.081542', 'c4n4ry/second', 'c4n4ry/refused']
  const [token = '', note = '', pin = '', second = '', refused = ''] = canaries
  const vault = await vaultWith(pool, a)
  const put = (values: Record<string, unknown>) =>
    putSettings(vault, operator, { tool: 'mail', schema, values })
  await put({ token, note, pin: Number(pin) })
  const faults: unknown[] = []
  for (const values of [
    { token: refused, note: null },
    { token: refused, nope: refused },
    { token: refused.repeat(2_000) },
  ])
    await put(values).catch((error: unknown) => faults.push(error))
  assert.equal(faults.length, 3)
  const both = await vaultWith(pool, b, a)
  await rotateMasterKey(both, operator)
  await rotateDataKeys(both, operator)
  await putSettings(both, operator, { tool: 'mail', schema, values: { token: second, note: '***' } })
  await deleteSetting(pool, operator, { tool: 'mail', key: 'pin' })
  const dumped = await dump()
  const masked = await maskedSettings(both, 'mail', schema)
  for (const part of ['vault_settings (mail,token,t,t,"\\\\x01', 'vault_master_keys (b,', 'settings.put'])
    assert.ok(dumped.includes(part), `the dump must have ${part}`)
  const keys = [a, b].map((one) => Buffer.from(one.slice(2), 'base64url'))
  const keyForms = keys.flatMap((key) =>
    ['hex', 'base64', 'base64url'].map((form) => key.toString(form as 'hex').slice(0, 40)),
  )
  for (const form of [...canaries.flatMap(formsOf), ...keyForms]) {
    assert.ok(form.length >= 5, form)
    assert.ok(!dumped.includes(form), form)
    assert.ok(!inspect(faults, { depth: 9, showHidden: true }).includes(form), form)
  }
  for (const form of formsOf(second)) assert.ok(!JSON.stringify(masked).includes(form))
  const { secrets } = await readSettings(both, 'mail', schema)
  assert.deepEqual(secrets, [second])
})
