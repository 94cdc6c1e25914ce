import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'

/** What a tool wrote, as it wrote it. */
export type RawOutput = { stdout: Uint8Array; stderrTail: Uint8Array }

export type OwnedRaw = { id: string; raw: RawOutput }

const insert = prepared(`
  insert into invocation_raws (id, stdout, stderr_tail)
  select id, stdout, stderr_tail from unnest($1::text[], $2::bytea[], $3::bytea[]) as raw (id, stdout, stderr_tail)
  on conflict (id) do update
  set stdout = excluded.stdout, stderr_tail = excluded.stderr_tail, stored_at = excluded.stored_at`)

// Bytes in arrays are sent as text of twice their size.
const statementBytesMax = 1_048_576

/** Each replaces that of an earlier attempt of its invocation. */
export async function keepRaws(sql: Sql, raws: readonly OwnedRaw[]): Promise<void> {
  for (const some of inStatements(raws)) {
    const all = (read: (raw: RawOutput) => Uint8Array) => some.map(({ raw }) => toBuffer(read(raw)))
    await sql.query(
      insert([some.map(({ id }) => id), all(({ stdout }) => stdout), all(({ stderrTail }) => stderrTail)]),
    )
  }
}

/** Small ones together, large ones alone. */
function inStatements(raws: readonly OwnedRaw[]): OwnedRaw[][] {
  const statements: OwnedRaw[][] = []
  let room = 0
  for (const one of raws) {
    room -= one.raw.stdout.length + one.raw.stderrTail.length
    const last = statements.at(-1)
    if (last === undefined || room < 0) {
      statements.push([one])
      room = statementBytesMax - one.raw.stdout.length - one.raw.stderrTail.length
    } else last.push(one)
  }
  return statements
}

const toBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
