import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Pool, Sql } from './pool.ts'
import { transaction } from './transaction.ts'

export type Migration = {
  number: number
  title: string
  /** Whether processes of the release before this migration can go on working after it. */
  compatible: boolean
  sql: string
  checksum: string
}

type AppliedRow = { number: number; title: string; compatible: boolean; checksum: string }

/** The database's schema and this release's migrations do not fit together. The message names the mend. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
}

const migrationsFolder = join(import.meta.dirname, '../migrations')

// Any constant will do as long as it never changes: it is what concurrent runners of every release meet at.
const advisoryLockKey = 7_406_518_293

/** Reads the numbered files, refusing a gap, a double or a missing header before any of them is run. */
export function readMigrations(folder: string = migrationsFolder): Migration[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .toSorted()
  if (files.length === 0)
    throw new SchemaError(`${folder}: holds no migration: the installation is incomplete`)
  return files.map((file, index) => {
    const match = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file)
    const sql = readFileSync(join(folder, file), 'utf8')
    const header = /^-- compatible: (yes|no)\n/.exec(sql)
    if (match?.[1] === undefined || match[2] === undefined || Number(match[1]) !== index + 1) {
      const number = String(index + 1).padStart(4, '0')
      throw new SchemaError(
        `${file}: migrations are named NNNN_title.sql and numbered without gaps: rename it to ${number}_<title in a-z, 0-9, _>.sql`,
      )
    }
    if (header === null) {
      throw new SchemaError(
        `${file}: the first line must be "-- compatible: yes" or "-- compatible: no": can the release before it work on after it?`,
      )
    }
    const checksum = createHash('sha256').update(sql).digest('hex')
    return { number: index + 1, title: match[2], compatible: header[1] === 'yes', sql, checksum }
  })
}

/** Applies what is missing, each file in its own transaction, under a lock that lets one runner at a time work. */
export async function migrate(pool: Pool, migrations: Migration[] = readMigrations()): Promise<Migration[]> {
  const done: Migration[] = []
  for (const migration of migrations) {
    const applied = await transaction(pool, (sql) => applyOne(sql, migration, migrations))
    if (applied) done.push(migration)
  }
  return done
}

/** Throws unless this release may work on the database as it is: nothing missing, nothing newer and incompatible. */
export async function assertSchema(sql: Sql, migrations: Migration[] = readMigrations()): Promise<void> {
  const exists = await sql.query<{ found: boolean }>(
    "select to_regclass('schema_migrations') is not null as found",
  )
  const applied = exists.rows[0]?.found ? await readApplied(sql) : []
  refuseForeign(applied, migrations)
  const missing = migrations.filter(({ number }) => !applied.some((row) => row.number === number))
  if (missing.length > 0)
    throw new SchemaError(`The database lacks ${missing.length} migration(s): run "./yard migrate"`)
}

async function applyOne(sql: Sql, migration: Migration, known: Migration[]): Promise<boolean> {
  // Taken in the transaction, so it is released with it whatever happens to this process.
  await sql.query('select pg_advisory_xact_lock($1)', [advisoryLockKey])
  await sql.query(`
    create table if not exists schema_migrations (
      number integer primary key,
      title text not null,
      compatible boolean not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`)
  const applied = await readApplied(sql)
  refuseForeign(applied, known)
  if (applied.some((row) => row.number === migration.number)) return false
  await sql.query(migration.sql)
  await sql.query(
    'insert into schema_migrations (number, title, compatible, checksum) values ($1, $2, $3, $4)',
    [migration.number, migration.title, migration.compatible, migration.checksum],
  )
  return true
}

async function readApplied(sql: Sql): Promise<AppliedRow[]> {
  const result = await sql.query<AppliedRow>(
    'select number, title, compatible, checksum from schema_migrations order by number limit 10000',
  )
  return result.rows
}

function refuseForeign(applied: AppliedRow[], known: Migration[]): void {
  for (const row of applied) {
    const ours = known[row.number - 1]
    if (ours === undefined && !row.compatible) {
      throw new SchemaError(
        `The database is newer than this release and incompatible with it (migration ${row.number} "${row.title}"): deploy the newer release`,
      )
    }
    if (ours !== undefined && ours.checksum !== row.checksum) {
      throw new SchemaError(
        `Migration ${row.number} "${row.title}" was applied with other contents than this release holds: restore that file, and put the change into a new one`,
      )
    }
  }
}
