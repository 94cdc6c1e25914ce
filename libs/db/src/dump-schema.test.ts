import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { emptyDatabase } from '@toolyard/testkit/database'
import { dumpSchema } from './dump-schema.ts'
import { migrate } from './migrate.ts'

const mend = 'run "npm run schema" and commit the file'

test('schema.sql is what the migrations make', async () => {
  const { pool } = await emptyDatabase()
  await migrate(pool)
  const made = await dumpSchema(pool)
  const committed = readFileSync(join(import.meta.dirname, '../schema.sql'), 'utf8')
  assert.equal(
    committed,
    made,
    `libs/db/schema.sql is not what the migrations make: ${mend}\n${difference(committed, made)}`,
  )
})

test('the dump makes the same schema again, whatever kinds of objects it holds', async () => {
  const [first, second] = [await emptyDatabase(), await emptyDatabase()]
  await first.pool.query(`
    create type colour as enum ('red', 'it''s blue');
    create sequence tickets as integer increment 5 start 10 cycle;
    create function shade(c colour) returns text language sql immutable as $$ select c::text || '!' $$;
    create table "Parents" (
      id bigint generated always as identity primary key,
      old_id serial,
      ticket integer not null default nextval('tickets'),
      email text collate "C" unique,
      paint colour[] not null default '{red}',
      shaded text generated always as (lower(email)) stored,
      span int4range,
      price numeric(10, 2) check (price > 0),
      exclude using gist (span with &&)
    ) with (fillfactor = 70);
    create unlogged table children (
      parent bigint not null references "Parents" on delete cascade deferrable initially deferred,
      "odd name" text,
      unique nulls not distinct (parent, "odd name")
    );
    alter table "Parents" add column favourite text, drop column span cascade;
    create index "by shade" on "Parents" (shade(paint[1]), email desc nulls last) include (price) where price > 1;
    create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
    create trigger "never" before delete on children for each row when (old.parent > 1) execute function refuse()`)
  const dump = await dumpSchema(first.pool)
  await second.pool.query(dump)
  assert.equal(await dumpSchema(second.pool), dump)
  for (const part of [
    `create type colour as enum ('red', 'it''s blue');`,
    'create sequence tickets as integer increment 5 minvalue 1 maxvalue 2147483647 start 10 cache 1 cycle;',
    'id bigint generated always as identity not null',
    'email text collate "C"',
    'shaded text generated always as (lower(email)) stored',
    'UNIQUE NULLS NOT DISTINCT (parent, "odd name")',
    'create unlogged table children (',
    ') with (fillfactor=70);',
    'INCLUDE (price) WHERE (price > (1)::numeric)',
    'REFERENCES "Parents"(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;',
    'alter sequence "Parents_old_id_seq" owned by "Parents".old_id;',
    'CREATE TRIGGER never BEFORE DELETE ON public.children FOR EACH ROW WHEN ((old.parent > 1))',
  ]) {
    assert.ok(dump.includes(part), `${part}\nis not in\n${dump}`)
  }
})

test('every change that matters changes the dump', async () => {
  const { pool } = await emptyDatabase()
  await pool.query('create table one (id integer, name text)')
  let before = await dumpSchema(pool)
  for (const change of [
    'alter table one alter column id set not null',
    'alter table one alter column id type bigint',
    "alter table one alter column name set default 'x'",
    'alter table one alter column name type text collate "C"',
    'alter table one add check (id > 0)',
    'alter table one add primary key (id)',
    'create index on one (name)',
    'alter table one set (fillfactor = 80)',
    'create function f() returns integer language sql as $$ select 1 $$',
    'create or replace function f() returns integer language sql as $$ select 2 $$',
    'create sequence s',
  ]) {
    await pool.query(change)
    const after = await dumpSchema(pool)
    assert.notEqual(after, before, change)
    before = after
  }
})

test('what belongs to an extension or to the queue is not ours', async () => {
  const { pool } = await emptyDatabase()
  const before = await dumpSchema(pool)
  await pool.query('create schema bullmq; create table bullmq.job (id integer)')
  assert.equal(await dumpSchema(pool), before)
  await pool.query('create extension pg_trgm')
  assert.equal(await dumpSchema(pool), `${before.trimEnd()}\n\ncreate extension pg_trgm;\n`)
})

test('what the dump cannot show is refused, not left out', async () => {
  for (const [change, name] of [
    ['create schema elsewhere', 'schema elsewhere'],
    ['create view v as select 1', 'view v'],
    ['create materialized view m as select 1 as one', 'relation m'],
    ['create table p (id integer) partition by range (id)', 'relation p'],
    ['create table p (id integer); create table c () inherits (p)', 'relation p'],
    ['create table t (id integer); alter table t enable row level security', 'relation t'],
    ['create table t (id integer); create rule r as on delete to t do instead nothing', 'relation t'],
    ['create domain d as text', 'type d'],
    ['create type c as (id integer)', 'composite type c'],
    ['create aggregate a (integer) (sfunc = int4pl, stype = integer)', 'aggregate a'],
    ['create table t (a integer, b integer); create statistics s on a, b from t', 'statistics s'],
  ]) {
    const { pool } = await emptyDatabase()
    await pool.query(String(change))
    await assert.rejects(dumpSchema(pool), new RegExp(`cannot show \\(${name}[,)].*dump-schema`), change)
  }
})

function difference(committed: string, made: string): string {
  const lines = made.split('\n')
  const at = committed.split('\n').findIndex((line, index) => line !== lines[index])
  return at === -1
    ? 'It ends too early.'
    : `Line ${at + 1} is\n  ${committed.split('\n')[at]}\nand should be\n  ${lines[at] ?? '(nothing)'}`
}
