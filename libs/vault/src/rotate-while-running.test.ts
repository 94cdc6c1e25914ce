import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '@toolyard/config/load'
import { Secret } from '@toolyard/config/secret'
import type { Pool } from '@toolyard/db/pool'
import { createPool } from '@toolyard/db/pool'
import { testDatabase } from '@toolyard/testkit/database'
import { dataFolder, entry, operator, vaultWith, weather } from '../fixtures/vaults.ts'
import { keyFile } from './key-file.ts'
import { maskedSettings } from './masked-settings.ts'
import type { Vault } from './open-vault.ts'
import { openVault } from './open-vault.ts'
import { putSettings } from './put-settings.ts'
import { readSettings } from './read-settings.ts'
import { rotateMasterKey } from './rotate-master-key.ts'
import type { VaultError } from './vault-error.ts'

const intervalMs = 5_000

const store = (vault: Vault, tool = 'weather', value = 'c4n4ry') =>
  putSettings(vault, operator, { tool, schema: weather, values: { api_key: value } })

const read = async (vault: Vault, tool = 'weather') =>
  (await readSettings(vault, tool, weather)).settings['api_key']

const unavailable = { name: 'AppError', code: 'secrets_unavailable' }

const masterKeyOf = async (pool: Pool, tool: string) =>
  (
    await pool.query<{ id: string }>('select master_key_id as id from vault_data_keys where tool = $1', [
      tool,
    ])
  ).rows[0]?.id

/** A list of entries that stands somewhere, how often it was read again, and a clock. */
function listThatCanChange(...first: string[]) {
  const state = { text: first.join(), readCount: 0, atMs: 0 }
  const readAgain = (): Secret => {
    state.readCount++
    return new Secret(state.text, readAgain)
  }
  return { state, secretKeys: new Secret(state.text, readAgain), nowMs: () => state.atMs, dataDir: 'nowhere' }
}

test('a process goes on over a rotation to a key that was put into the key file after its start', async () => {
  const { pool } = await testDatabase()
  const dataDir = dataFolder()
  const [a, b] = [entry('a'), entry('b')]
  const write = (...entries: string[]) => writeFileSync(keyFile(dataDir), entries.join('\n'), { mode: 0o600 })
  write(a)
  const reader = await openVault({ pool, dataDir })
  const writer = await openVault({ pool, dataDir })
  await store(reader)
  write(b, a)
  await rotateMasterKey(await openVault({ pool, dataDir }), operator)
  assert.equal(await masterKeyOf(pool, 'weather'), 'b')
  assert.equal(await read(reader), 'c4n4ry')
  assert.deepEqual((await maskedSettings(reader, 'weather', weather)).set, ['api_key'])
  await store(writer, 'weather', 'newer')
  assert.equal(await read(reader), 'newer')
  await store(writer, 'mail')
  assert.equal(await masterKeyOf(pool, 'mail'), 'b')
  // What a restart would have now, the process that never restarted has too.
  write(entry('c'), b)
  const last = await openVault({ pool, dataDir })
  await rotateMasterKey(last, operator)
  assert.equal(await read(writer), 'newer')
  assert.deepEqual([...writer.masterKeys.byId.keys()].toSorted(), ['b', 'c'])
})

test('a process goes on over a rotation whose keys come from YARD_SECRET_KEYS_FILE', async () => {
  const { pool } = await testDatabase()
  const path = join(dataFolder(), 'keys')
  const { a, b } = { a: entry('a'), b: entry('b') }
  const open = () => {
    const { secretKeys } = loadConfig(['secretKeys'], { YARD_SECRET_KEYS_FILE: path })
    return openVault({ pool, secretKeys, dataDir: 'nowhere' })
  }
  writeFileSync(path, a)
  const running = await open()
  await store(running)
  writeFileSync(path, `${b},${a}`)
  await rotateMasterKey(await open(), operator)
  assert.equal(await read(running), 'c4n4ry')
  writeFileSync(path, `${entry('c')},${b}x`)
  assert.equal(await read(running), 'c4n4ry')
})

test('a process whose keys came by the variable is told what it lacks, and searches nowhere', async () => {
  const { pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  const running = await vaultWith(pool, a)
  await store(running)
  await rotateMasterKey(await vaultWith(pool, b, a), operator)
  await assert.rejects(read(running), unavailable)
  await assert.rejects(store(running), unavailable)
  assert.equal(await running.seekMasterKey('b'), false)
  assert.equal(await running.seekMasterKey('a'), true)
})

test('a key that is nowhere on this host costs one look an interval, however many ask', async () => {
  const { pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  const { state, ...places } = listThatCanChange(a)
  const running = await openVault({ pool, ...places })
  await store(running)
  await store(running, 'mail')
  await rotateMasterKey(await vaultWith(pool, b, a), operator)
  const ask = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        assert.rejects(read(running, n % 2 ? 'mail' : 'weather'), unavailable),
      ),
    )
  await ask(30)
  await assert.rejects(store(running), unavailable)
  assert.equal(state.readCount, 1)
  state.atMs += intervalMs - 1
  await ask(30)
  assert.equal(state.readCount, 1)
  state.atMs += 1
  await ask(30)
  assert.equal(state.readCount, 2)
  state.text = `${b},${a}`
  state.atMs += intervalMs
  const got = await Promise.all(Array.from({ length: 30 }, () => read(running)))
  assert.deepEqual(new Set(got), new Set(['c4n4ry']))
  assert.equal(state.readCount, 3)
})

test('a sought key is found though another was missed just before', async () => {
  const { pool } = await testDatabase()
  const [a, b, c] = [entry('a'), entry('b'), entry('c')]
  const { state, ...places } = listThatCanChange(a)
  const running = await openVault({ pool, ...places })
  await store(running)
  await store(running, 'mail')
  await rotateMasterKey(await vaultWith(pool, b, a), operator)
  await assert.rejects(read(running), unavailable)
  await rotateMasterKey(await vaultWith(pool, c, b), operator)
  state.text = [c, b, a].join()
  assert.equal(await read(running), 'c4n4ry')
})

test('a list that no process could start with is refused with its mend, and the process keeps what it has', async () => {
  const { pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  const { state, ...places } = listThatCanChange(a)
  const refusals: string[] = []
  const onRefused = ({ message }: VaultError) => refusals.push(message)
  const running = await openVault({ pool, ...places, onRefused })
  await store(running)
  await rotateMasterKey(await vaultWith(pool, b, a), operator)
  await store(await vaultWith(pool, a, b), 'mail')
  const faults: [string, RegExp][] = [
    [b, /master keys are a, b; this host has b/],
    [`${b},${entry('a')}`, /is not the a of this vault/],
    [`${entry('b')},${a}`, /is not the b of this vault/],
    [`${b.slice(0, -3)},${a}`, /entry 1 must have 32 bytes/],
    ['', /must have an entry/],
  ]
  for (const [text, fault] of faults) {
    state.text = text
    state.atMs += intervalMs
    await assert.rejects(read(running), unavailable)
    const said = refusals.pop() ?? assert.fail(`"${fault}" was not told`)
    assert.match(said, fault)
    assert.doesNotMatch(said, /(?<![\w-])[\w-]{40,}(?![\w-])/)
    assert.equal(refusals.length, 0)
    assert.equal(await read(running, 'mail'), 'c4n4ry')
  }
  state.text = `${b},${a}`
  state.atMs += intervalMs
  assert.equal(await read(running), 'c4n4ry')
})

test('a key file that others can read, or that is gone, is not read again', async () => {
  const { pool } = await testDatabase()
  const dataDir = dataFolder()
  const refusals: string[] = []
  let atMs = 0
  const running = await openVault({
    pool,
    dataDir,
    nowMs: () => atMs,
    onRefused: ({ message }) => refusals.push(message),
  })
  await store(running)
  const { id } = running.masterKeys.current
  chmodSync(keyFile(dataDir), 0o644)
  assert.equal(await running.seekMasterKey('b'), false)
  assert.match(refusals.pop() ?? '', /chmod 600/)
  assert.equal(await read(running), 'c4n4ry')
  chmodSync(keyFile(dataDir), 0o600)
  atMs += intervalMs
  assert.equal(await running.seekMasterKey('b'), false)
  assert.deepEqual(refusals, [])
  assert.equal(running.masterKeys.current.id, id)
})

test('a database that fails during the search is the error of the call, and the next call searches again', async () => {
  const { pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  const { state, ...places } = listThatCanChange(a)
  const running = await openVault({ pool, ...places })
  await store(running)
  await rotateMasterKey(await vaultWith(pool, b, a), operator)
  state.text = `${b},${a},${entry('c')}`
  await pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'full'; end $$;
    create trigger refuse before insert on vault_master_keys for each row execute function refuse()`)
  await assert.rejects(read(running), /full/)
  await pool.query('drop trigger refuse on vault_master_keys')
  assert.equal(await read(running), 'c4n4ry')
})

test('the search needs no second connection while a call holds the only one', async () => {
  const { url, pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  const { state, ...places } = listThatCanChange(a)
  const narrow = createPool({
    url,
    max: 1,
    applicationName: 'narrow',
    onIdleError: (error) => assert.fail(error),
  })
  try {
    const running = await openVault({ pool: narrow, ...places })
    await store(running)
    await rotateMasterKey(await vaultWith(pool, b, a), operator)
    state.text = `${b},${a}`
    await Promise.all([
      store(running),
      store(running, 'weather', 'newer'),
      read(running),
      store(running, 'mail'),
    ])
    assert.equal(await masterKeyOf(pool, 'weather'), 'b')
  } finally {
    await narrow.end()
  }
})
