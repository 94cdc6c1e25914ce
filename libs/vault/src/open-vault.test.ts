import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { test } from 'node:test'
import { listAudit } from '@toolyard/access/list-audit'
import { Secret } from '@toolyard/config/secret'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { testDatabase } from '@toolyard/testkit/database'
import { count, dataFolder, entry, operator, vaultWith, weather } from '../fixtures/vaults.ts'
import { keyFile } from './key-file.ts'
import type { Vault } from './open-vault.ts'
import { openVault } from './open-vault.ts'
import { putSettings } from './put-settings.ts'
import { readSettings } from './read-settings.ts'
import { rotateMasterKey } from './rotate-master-key.ts'
import { VaultError } from './vault-error.ts'

const store = (vault: Vault, tool = 'weather') =>
  putSettings(vault, operator, { tool, schema: weather, values: { api_key: `c4n4ry of ${tool}` } })

const read = async (vault: Vault, tool = 'weather') =>
  (await readSettings(vault, tool, weather)).settings['api_key']

const knownIds = async (pool: Pool) =>
  (await pool.query<{ id: string }>('select id from vault_master_keys order by id')).rows.map(({ id }) => id)

/** Checks that the start is refused with each of the words, and without any key. */
async function refused(opening: Promise<Vault>, ...words: (string | RegExp)[]): Promise<void> {
  await assert.rejects(opening, (error) => {
    assert.ok(error instanceof VaultError, String(error))
    for (const word of words)
      assert.ok(
        typeof word === 'string' ? error.message.includes(word) : word.test(error.message),
        error.message,
      )
    assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /(?<![\w-])[\w-]{43}(?![\w-])/)
    return true
  })
}

test('the first start makes a key file, the next ones use it, and the audit tells of the key', async () => {
  const { pool } = await testDatabase()
  const dataDir = dataFolder()
  const vault = await openVault({ pool, dataDir })
  const text = readFileSync(keyFile(dataDir), 'utf8')
  await store(vault)
  const again = await openVault({ pool, dataDir })
  assert.equal(await read(again), 'c4n4ry of weather')
  assert.equal(readFileSync(keyFile(dataDir), 'utf8'), text)
  const id = text.slice(0, text.indexOf(':'))
  assert.deepEqual(await knownIds(pool), [id])
  const { entries } = await listAudit(pool, operator.actor)
  assert.deepEqual(
    entries.map(({ action, target }) => [action, target]),
    [
      ['settings.put', 'tool:weather'],
      ['master_key.admit', `master_key:${id}`],
    ],
  )
})

test('a vault shows nothing of its keys, however it is printed (I6)', async () => {
  const { pool } = await testDatabase()
  const bytes = Buffer.alloc(32, 'c4n4ry')
  const vault = await vaultWith(pool, `a:${bytes.toString('base64url')}`)
  const shown =
    inspect(vault.masterKeys, { depth: 20, showHidden: true }) + JSON.stringify([...vault.masterKeys.byId])
  for (const form of ['latin1', 'hex', 'base64', 'base64url'] as const)
    assert.ok(!shown.includes(bytes.toString(form).slice(0, 8)))
  assert.ok(!shown.includes('63 34 6e 34'))
})

test('processes of one host that start at once on an empty vault agree on one key', async () => {
  const { pool } = await testDatabase()
  const dataDir = dataFolder()
  const vaults = await Promise.all(Array.from({ length: 8 }, () => openVault({ pool, dataDir })))
  assert.equal(new Set(vaults.map(({ masterKeys }) => masterKeys.current.id)).size, 1)
  assert.equal((await knownIds(pool)).length, 1)
  await Promise.all(vaults.map((vault, n) => store(vault, `tool${n}`)))
  for (const vault of vaults) assert.equal(await read(vault, 'tool5'), 'c4n4ry of tool5')
})

test('hosts that start at once with data directories of their own: one opens the vault, the others are told whose it is', async () => {
  const { pool } = await testDatabase()
  const folders = Array.from({ length: 4 }, dataFolder)
  const starts = await Promise.allSettled(folders.map((dataDir) => openVault({ pool, dataDir })))
  const opened = starts.filter((start) => start.status === 'fulfilled')
  assert.equal(opened.length, 1)
  const id = opened[0]?.value.masterKeys.current.id ?? assert.fail()
  for (const [n, start] of starts.entries()) {
    if (start.status === 'fulfilled') continue
    const dataDir = folders[n] ?? assert.fail()
    await refused(
      openVault({ pool, dataDir }),
      `This vault's master key is ${id}; this host has none`,
      'Copy the key file',
      'set YARD_SECRET_KEYS',
      `delete from vault_master_keys`,
    )
  }
  const winner = folders[starts.findIndex((start) => start.status === 'fulfilled')] ?? assert.fail()
  const loser = folders.find((folder) => folder !== winner) ?? assert.fail()
  writeFileSync(keyFile(loser), readFileSync(keyFile(winner)), { mode: 0o600 })
  assert.equal((await openVault({ pool, dataDir: loser })).masterKeys.current.id, id)
})

test('a key file that is gone is made anew on its host while nothing is stored, and never afterwards', async () => {
  const { pool } = await testDatabase()
  const dataDir = dataFolder()
  const before = await openVault({ pool, dataDir })
  rmSync(keyFile(dataDir))
  const after = await openVault({ pool, dataDir })
  assert.notEqual(after.masterKeys.current.id, before.masterKeys.current.id)
  assert.deepEqual(await knownIds(pool), [after.masterKeys.current.id])
  await assert.rejects(
    store(before),
    (error) =>
      error instanceof AppError && error.code === 'secrets_unavailable' && /restart/.test(error.message),
  )
  assert.equal(await count(pool, 'vault_data_keys'), 0)
  await store(after)
  rmSync(keyFile(dataDir))
  await refused(
    openVault({ pool, dataDir }),
    `This vault's master key is ${after.masterKeys.current.id}; this host has none`,
    /vault\.keys does not exist/,
    'nobody can read what the vault holds',
  )
  assert.throws(() => readFileSync(keyFile(dataDir)), { code: 'ENOENT' })
})

test('a wrong key under another id, and one under the right id, stop the start', async () => {
  const { pool } = await testDatabase()
  const a = entry('a')
  const vault = await vaultWith(pool, a)
  await refused(
    vaultWith(pool, entry('b')),
    "This vault's master key is a; this host has b (YARD_SECRET_KEYS)",
  )
  await refused(vaultWith(pool, entry('a')), 'is not the a of this vault', 'put the right one back')
  await store(vault)
  await refused(
    vaultWith(pool, entry('b')),
    "This vault's master key is a; this host has b",
    'nobody can read',
  )
  await refused(vaultWith(pool, entry('a')), 'is not the a of this vault')
  await refused(vaultWith(pool, entry('b'), entry('a')), 'is not the a of this vault')
  await refused(
    openVault({ pool, dataDir: dataFolder() }),
    "This vault's master key is a; this host has none",
  )
  assert.deepEqual(await knownIds(pool), ['a'])
  assert.equal(await read(await vaultWith(pool, a)), 'c4n4ry of weather')
})

test('a list that cannot be read stops the start without a word of it', async () => {
  const { pool } = await testDatabase()
  const dataDir = dataFolder()
  const given = (text: string) => openVault({ pool, dataDir, secretKeys: new Secret(text) })
  await refused(given(`${entry('a')},${entry('b')}x`), 'YARD_SECRET_KEYS: entry 2 must have 32 bytes')
  writeFileSync(keyFile(dataDir), entry('a').slice(0, 20), { mode: 0o600 })
  await refused(openVault({ pool, dataDir }), 'vault.keys: entry 1 must have 32 bytes')
  assert.deepEqual(await knownIds(pool), [])
})

test('a new key joins beside an old one, and the old one may go when nothing is under it any more', async () => {
  const { pool } = await testDatabase()
  const [a, b] = [entry('a'), entry('b')]
  await store(await vaultWith(pool, a))
  const both = await vaultWith(pool, b, a)
  assert.deepEqual(await knownIds(pool), ['a', 'b'])
  await refused(vaultWith(pool, b), "This vault's master key is a; this host has b")
  await store(both, 'other')
  await refused(vaultWith(pool, b), "This vault's master keys are a, b; this host has b")
  await refused(vaultWith(pool, a), "This vault's master keys are a, b; this host has a")
  await rotateMasterKey(both, operator)
  assert.equal(await read(await vaultWith(pool, b)), 'c4n4ry of weather')
  await refused(vaultWith(pool, a), "This vault's master key is b; this host has a")
  // An id is used once: what backups hold under it stays readable to its key alone.
  await refused(vaultWith(pool, b, entry('a')), 'is not the a of this vault')
})

test('a key file gives way to YARD_SECRET_KEYS that begin with another key and hold the file’s too', async () => {
  const { pool } = await testDatabase()
  const dataDir = dataFolder()
  await store(await openVault({ pool, dataDir }))
  const fromFile = readFileSync(keyFile(dataDir), 'utf8')
  const fresh = entry('fresh')
  await refused(
    openVault({ pool, dataDir, secretKeys: new Secret(fresh) }),
    'this host has fresh (YARD_SECRET_KEYS)',
  )
  const vault = await openVault({ pool, dataDir, secretKeys: new Secret(`${fresh},${fromFile}`) })
  assert.equal(await read(vault), 'c4n4ry of weather')
})
