import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyDatabase } from '@toolyard/testkit/database'
import type { Migration } from './migrate.ts'
import { assertSchema, migrate, readMigrations } from './migrate.ts'

const migration = (number: number, sql: string, compatible = true): Migration => ({
  number,
  title: `step_${number}`,
  compatible,
  sql,
  checksum: `${number}:${sql}`,
})

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
  await assert.rejects(assertSchema(pool, [first]), /newer than this release/)
  await assert.rejects(migrate(pool, [first]), /newer than this release/)
})

test('a migration edited after it was applied is refused', async () => {
  const { pool } = await emptyDatabase()
  await migrate(pool, [migration(1, 'create table one (id integer)')])
  await assert.rejects(assertSchema(pool, [migration(1, 'create table one (id bigint)')]), /other contents/)
})
