import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { emptyDatabase } from '@toolyard/testkit/database'
import type { Migration } from './migrate.ts'
import { SchemaError, assertSchema, migrate, readMigrations } from './migrate.ts'

const migration = (number: number, sql: string, compatible = true): Migration => ({
  number,
  title: `step_${number}`,
  compatible,
  sql,
  checksum: `${number}:${sql}`,
})

function folderOf(t: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-migrations-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

test('four runners at once apply each migration once', async () => {
  const { pool } = await emptyDatabase()
  const all = readMigrations()
  const runs = await Promise.all([migrate(pool), migrate(pool), migrate(pool), migrate(pool)])
  assert.deepEqual(
    runs
      .flat()
      .map((done) => done.number)
      .toSorted((a, b) => a - b),
    all.map((one) => one.number),
  )
  await assertSchema(pool)
})

test('a migration that fails leaves nothing of itself and can be mended', async () => {
  const { pool } = await emptyDatabase()
  const good = migration(1, 'create table one (id integer)')
  await assert.rejects(
    migrate(pool, [good, migration(2, 'create table two (id integer); select 1/0')]),
    /division by zero/,
  )
  const left = await pool.query(
    "select to_regclass('one') is not null as one, to_regclass('two') is not null as two",
  )
  assert.deepEqual(left.rows[0], { one: true, two: false })
  const mended = [good, migration(2, 'create table two (id integer)')]
  assert.equal((await migrate(pool, mended)).length, 1)
})

test('a database that lacks a migration is refused with the mend', async () => {
  const { pool } = await emptyDatabase()
  await assert.rejects(assertSchema(pool), /lacks \d+ migration.*yard migrate/)
})

test('a newer incompatible schema is refused, a newer compatible one is not', async () => {
  const { pool } = await emptyDatabase()
  const first = migration(1, 'create table one (id integer)')
  await migrate(pool, [first, migration(2, 'create table two (id integer)', true)])
  await assertSchema(pool, [first])
  await migrate(pool, [
    first,
    migration(2, 'create table two (id integer)', true),
    migration(3, 'drop table one', false),
  ])
  await assert.rejects(
    assertSchema(pool, [first]),
    /newer than this release.*migration 3 "step_3".*deploy the newer release/,
  )
  await assert.rejects(migrate(pool, [first]), /newer than this release/)
})

test('a migration edited after it was applied is refused', async () => {
  const { pool } = await emptyDatabase()
  await migrate(pool, [migration(1, 'create table one (id integer)')])
  const edited = [migration(1, 'create table one (id bigint)'), migration(2, 'create table two (id integer)')]
  const refusal = {
    name: 'SchemaError',
    message: /"step_1".*other contents.*restore that file.*into a new one/,
  }
  await assert.rejects(assertSchema(pool, edited), refusal)
  await assert.rejects(migrate(pool, edited), refusal)
  const two = await pool.query("select to_regclass('two') is null as absent")
  assert.deepEqual(two.rows, [{ absent: true }])
})

test('runners of different releases at once: each ends with the schema or a refusal, never with half of it', async () => {
  const { pool } = await emptyDatabase()
  const first = migration(1, 'create table one (id integer)')
  const second = migration(2, 'alter table one rename to uno', false)
  const runs = await Promise.allSettled(
    Array.from({ length: 6 }, (_, index) => migrate(pool, index % 2 === 0 ? [first] : [first, second])),
  )
  for (const run of runs) if (run.status === 'rejected') assert.ok(run.reason instanceof SchemaError)
  const applied = await pool.query('select number from schema_migrations order by number')
  assert.deepEqual(applied.rows, [{ number: 1 }, { number: 2 }])
  await assertSchema(pool, [first, second])
})

test('a migration that is missing in the middle counts as missing', async () => {
  const { pool } = await emptyDatabase()
  const all = [1, 2, 3].map((number) => migration(number, `create table step_${number} (id integer)`))
  await migrate(pool, all)
  await pool.query('drop table step_2; delete from schema_migrations where number = 2')
  await assert.rejects(assertSchema(pool, all.slice(0, 2)), /lacks 1 migration/)
  assert.deepEqual(await migrate(pool, all), [all[1]])
  await assertSchema(pool, all)
})

test('the files of this release are read in order, with what their headers say', (t) => {
  const folder = folderOf(t, {
    '0002_second.sql': '-- compatible: no\nselect 2;',
    '0001_first_of_all.sql': '-- compatible: yes\nselect 1;',
    'README.md': 'not a migration',
  })
  const read = readMigrations(folder)
  assert.deepEqual(
    read.map(({ number, title, compatible }) => ({ number, title, compatible })),
    [
      { number: 1, title: 'first_of_all', compatible: true },
      { number: 2, title: 'second', compatible: false },
    ],
  )
  assert.notEqual(read[0]?.checksum, read[1]?.checksum)
})

test('a folder of migrations with a fault is refused, with the file and the mend', (t) => {
  const good = '-- compatible: yes\nselect 1;'
  const cases: [Record<string, string>, RegExp][] = [
    [{}, /holds no migration/],
    [{ '0002_a.sql': good }, /^0002_a\.sql: .*without gaps: rename it to 0001_/],
    [{ '0001_a.sql': good, '0003_b.sql': good }, /^0003_b\.sql: .*rename it to 0002_/],
    [{ '0001_a.sql': good, '0001_b.sql': good }, /^0001_b\.sql: .*rename it to 0002_/],
    [{ '1_a.sql': good }, /^1_a\.sql: .*rename it to 0001_/],
    [{ '0001_A-b.sql': good }, /^0001_A-b\.sql: .*rename it to 0001_<title in a-z, 0-9, _>/],
    [{ '0001_a.sql': 'select 1;' }, /^0001_a\.sql: the first line must be "-- compatible: yes" or/],
    [{ '0001_a.sql': `\n${good}` }, /^0001_a\.sql: the first line must be/],
    [{ '0001_a.sql': '-- compatible: maybe\nselect 1;' }, /^0001_a\.sql: the first line must be/],
  ]
  for (const [files, message] of cases) {
    assert.throws(() => readMigrations(folderOf(t, files)), { name: 'SchemaError', message })
  }
})
