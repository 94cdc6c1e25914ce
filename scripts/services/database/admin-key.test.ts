import assert from 'node:assert/strict'
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createKey } from '@toolyard/access/create-key'
import { revokeKey } from '@toolyard/access/revoke-key'
import { testDatabase } from '@toolyard/testkit/database'
import { temporaryFolder } from '@toolyard/testkit/temporary-folder'
import { provideAdminKey, removeKeptKeys } from './admin-key.ts'

const operator = { actor: { kind: 'operator' } } as const

const keyFileIn = (t: TestContext) => join(temporaryFolder(t), 'admin.key')
const read = (file: string) => readFileSync(file, 'utf8')
const idIn = (token: string) => token.split('_')[1] ?? ''

test('the first start writes the key, the next finds it working', async (t) => {
  const [{ url }, file] = [await testDatabase(), keyFileIn(t)]
  assert.equal(await provideAdminKey(url, file), 'in-file')
  const token = read(file)
  assert.match(token, /^yk_[0-9a-z]{26}_[0-9a-f]{64}\n$/)
  assert.equal(await provideAdminKey(url, file), 'in-file')
  assert.equal(read(file), token)
})

test('from one database to another and back: each time the file holds the key of this one, and none is lost', async (t) => {
  const [own, named, file] = [await testDatabase(), await testDatabase(), keyFileIn(t)]
  await provideAdminKey(own.url, file)
  const first = read(file)
  assert.equal(await provideAdminKey(named.url, file), 'in-file')
  const second = read(file)
  assert.notEqual(second, first)
  assert.equal(read(`${file}.${idIn(first)}`), first)
  assert.equal(await provideAdminKey(own.url, file), 'in-file')
  assert.equal(read(file), first)
  assert.equal(read(`${file}.${idIn(second)}`), second)
  const names = readdirSync(dirname(file))
  assert.equal(names.length, 2)
  for (const name of names) assert.equal(statSync(join(dirname(file), name)).mode & 0o777, 0o600)
  removeKeptKeys(file)
  assert.deepEqual(readdirSync(dirname(file)), ['admin.key'])
})

test('a key that was revoked or has expired, or is not in the file, is not said to work', async (t) => {
  const [{ url, pool }, file] = [await testDatabase(), keyFileIn(t)]
  await provideAdminKey(url, file)
  const first = read(file)
  const other = await createKey(pool, operator, { name: 'other', scopes: ['keys:manage'] })
  await revokeKey(pool, operator, idIn(first))
  assert.equal(await provideAdminKey(url, file), 'missing', 'another key works, so none is made')
  assert.equal(read(file), first)
  for (const text of ['', 'no key at all', `yk_${idIn(first)}_${'0'.repeat(64)}`, `${first}${first}`]) {
    writeFileSync(file, text)
    assert.equal(await provideAdminKey(url, file), 'missing', text)
  }
  await revokeKey(pool, operator, other.key.id)
  assert.equal(await provideAdminKey(url, file), 'in-file', 'now that none works, one is made')
  await pool.query("update api_keys set expires_at = now() - interval '1 second' where revoked_at is null")
  assert.equal(await provideAdminKey(url, file), 'in-file', 'and another when that one has expired')
})

test('a text in the file that is no key of ours is kept when a key is written', async (t) => {
  const [{ url }, file] = [await testDatabase(), keyFileIn(t)]
  writeFileSync(file, 'precious')
  assert.equal(await provideAdminKey(url, file), 'in-file')
  assert.equal(read(`${file}.old`), 'precious')
})
