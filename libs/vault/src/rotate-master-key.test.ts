import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listAudit } from '@toolyard/access/list-audit'
import { AppError } from '@toolyard/contract/errors'
import { transaction } from '@toolyard/db/transaction'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { count, entry, operator, vaultWith, weather } from '../fixtures/vaults.ts'
import { newDataKey, wrapDataKey } from './data-key.ts'
import type { Vault } from './open-vault.ts'
import { putSettings } from './put-settings.ts'
import { readSettings } from './read-settings.ts'
import { rotateDataKeys } from './rotate-data-keys.ts'
import { rotateMasterKey } from './rotate-master-key.ts'
import { sealSetting } from './setting.ts'

const toolNames = (n: number) => Array.from({ length: n }, (_, i) => `tool${String(i).padStart(3, '0')}`)

const store = async (vault: Vault, tools: string[]) => {
  for (const tool of tools)
    await putSettings(vault, operator, {
      tool,
      schema: weather,
      values: { api_key: `key of ${tool}`, limit: 1 },
    })
}

const read = async (vault: Vault, tool: string) =>
  (await readSettings(vault, tool, weather)).settings['api_key']

test('a rotation wraps everything anew, tells what is left, audits it, and is idle the next time', async () => {
  const { pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  const old = await vaultWith(pool, a)
  const tools = toolNames(120)
  await store(old, tools)
  const both = await vaultWith(pool, b, a)
  const sealedBefore = await pool.query('select sealed from vault_settings order by tool, key')
  assert.deepEqual(await rotateMasterKey(both, operator), {
    current: 'b',
    rewrapped: 120,
    unreadable: [],
    inUse: [{ id: 'b', tools: 120 }],
  })
  assert.deepEqual(
    (await pool.query('select sealed from vault_settings order by tool, key')).rows,
    sealedBefore.rows,
  )
  const { entries } = await listAudit(pool, operator.actor)
  const audited = entries.filter(({ action }) => action === 'master_key.rotate')
  assert.deepEqual(
    audited.map(({ target }) => target),
    Array(3).fill('master_key:b'),
  )
  assert.deepEqual(
    audited
      .flatMap(({ detail }) => detail['tools'])
      .map(String)
      .toSorted(),
    tools,
  )
  const auditCount = await count(pool, 'audit')
  assert.equal((await rotateMasterKey(both, operator)).rewrapped, 0)
  assert.equal(await count(pool, 'audit'), auditCount)
  const fresh = await vaultWith(pool, b)
  for (const tool of tools) assert.equal(await read(fresh, tool), `key of ${tool}`)
  await assert.rejects(read(old, 'tool000'), (error) => {
    assert.ok(error instanceof AppError && error.code === 'secrets_unavailable')
    return /under the master key b, which this process does not have/.test(error.message)
  })
})

test('a rotation that ended half-way goes on where it was', async () => {
  const { pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  await store(await vaultWith(pool, a), toolNames(120))
  const both = await vaultWith(pool, b, a)
  // The second batch fails: its audit row cannot be written, and with it nothing of the batch stands.
  await pool.query(`
    create function refuse() returns trigger language plpgsql as
      $$ begin if new.detail -> 'tools' ? 'tool070' then raise 'full'; end if; return new; end $$;
    create trigger refuse before insert on audit for each row execute function refuse()`)
  await assert.rejects(rotateMasterKey(both, operator), /full/)
  const split = await pool.query(
    'select master_key_id as id, count(*)::integer as n from vault_data_keys group by 1 order by 1',
  )
  assert.deepEqual(split.rows, [
    { id: 'a', n: 70 },
    { id: 'b', n: 50 },
  ])
  for (const tool of ['tool000', 'tool119']) assert.equal(await read(both, tool), `key of ${tool}`)
  await pool.query('drop trigger refuse on audit')
  assert.deepEqual(await rotateMasterKey(both, operator), {
    current: 'b',
    rewrapped: 70,
    unreadable: [],
    inUse: [{ id: 'b', tools: 120 }],
  })
})

test('keys are rotated under readers and writers, back and forth and at once, and none of them fails', async () => {
  const { pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  const older = await vaultWith(pool, a, b)
  const newer = await vaultWith(pool, b, a)
  const tools = toolNames(24)
  await store(older, tools)
  const state = { readCount: 0, rotating: true }
  const reading = async (vault: Vault, first: number) => {
    for (let n = first; state.rotating || n < first + 100; n++) {
      const tool = tools[n % tools.length] ?? assert.fail()
      assert.equal(await read(vault, tool), `key of ${tool}`)
      state.readCount++
    }
  }
  const writing = async (vault: Vault) => {
    for (let n = 0; state.rotating; n++) {
      const tool = tools[n % tools.length] ?? assert.fail()
      const values = { api_key: `key of ${tool}`, limit: n }
      await putSettings(vault, operator, { tool, schema: weather, values })
    }
  }
  const rotating = async () => {
    let rewrapped = 0
    for (let round = 0; round < 4; round++) {
      rewrapped += (await rotateMasterKey(round % 2 === 0 ? newer : older, operator)).rewrapped
      if (round % 3 === 0) assert.deepEqual((await rotateDataKeys(older, operator)).unreadable, [])
    }
    for (let round = 0; round < 4; round++) {
      const atOnce = await Promise.all([
        rotateMasterKey(newer, operator),
        rotateDataKeys(older, operator),
        rotateMasterKey(older, operator),
      ])
      assert.deepEqual(
        atOnce.flatMap(({ unreadable }) => unreadable),
        [],
      )
    }
    return rewrapped
  }
  const rotated = rotating().finally(() => (state.rotating = false))
  const [rewrapped] = await Promise.all([
    rotated,
    reading(newer, 0),
    reading(older, 7),
    reading(newer, 31),
    writing(older),
  ])
  assert.ok(rewrapped >= 3 * tools.length, `${rewrapped} wrapped anew`)
  assert.ok(state.readCount >= 300, `${state.readCount} reads`)
  const last = await rotateMasterKey(newer, operator)
  assert.deepEqual(last.inUse, [{ id: 'b', tools: tools.length }])
})

test('new data keys are new, under the current master key, and the settings say the same', async () => {
  const { pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  const tools = toolNames(3)
  await store(await vaultWith(pool, a), tools)
  const rows = async () =>
    (await pool.query<{ sealed: Buffer }>('select sealed from vault_settings order by tool, key')).rows.map(
      ({ sealed }) => sealed.toString('hex'),
    )
  const before = await rows()
  const both = await vaultWith(pool, b, a)
  assert.deepEqual(await rotateDataKeys(both, operator), { rotated: 3, unreadable: [] })
  const after = await rows()
  assert.equal(new Set([...before, ...after]).size, before.length * 2)
  const fresh = await vaultWith(pool, b)
  for (const tool of tools) assert.equal(await read(fresh, tool), `key of ${tool}`)
  const { entries } = await listAudit(pool, operator.actor)
  assert.deepEqual(
    entries
      .slice(0, 3)
      .map(({ action, target }) => [action, target])
      .toReversed()
      .slice(1),
    [
      ['settings.rotate', 'tool:tool001'],
      ['settings.rotate', 'tool:tool002'],
    ],
  )
})

test('a rotation waits for whoever replaces a data key, and wraps the new one', async () => {
  const { pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  const older = await vaultWith(pool, a)
  const newer = await vaultWith(pool, b, a)
  await putSettings(older, operator, { tool: 'mail', schema: weather, values: { api_key: 'before' } })
  const rotation = await transaction(pool, async (sql) => {
    const dataKey = newDataKey()
    const { wrapped } = wrapDataKey(older.masterKeys.current, 'mail', dataKey)
    const { sealed } = sealSetting(dataKey, 'mail', { key: 'api_key', secret: true, value: 'after' })
    await sql.query('update vault_data_keys set wrapped = $1', [wrapped])
    await sql.query('update vault_settings set sealed = $1', [sealed])
    const rotating = rotateMasterKey(newer, operator)
    await waitUntil('the rotation waits', async () => {
      const waiting = await pool.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      return waiting.rowCount === 1
    })
    // Not awaited before the commit, which is what it waits for.
    return { rotating }
  })
  assert.equal((await rotation.rotating).rewrapped, 1)
  assert.equal(await read(newer, 'mail'), 'after')
})
