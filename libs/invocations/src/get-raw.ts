import type { Actor } from '@toolyard/access/actor'
import type { Sql } from '@toolyard/db/pool'
import { bindingsOf, isInvocationId, isVisible, notFound } from './visible.ts'

export type KeptRaw = { stdout: Buffer; stderrTail: Buffer; storedAt: Date }

const select = `
  select raw.stdout, raw.stderr_tail, raw.stored_at
  from invocations left join invocation_raws as raw on raw.id = invocations.id
  where invocations.id = $1 and ${isVisible('$2', '$3')}`

type Row = { stdout: Buffer | null; stderr_tail: Buffer | null; stored_at: Date | null }

/** What the tool wrote in its last attempt; undefined where nothing is kept any more. The scope is the edge's to check. */
export async function getRaw(sql: Sql, actor: Actor, id: string): Promise<KeptRaw | undefined> {
  if (!isInvocationId(id)) throw notFound()
  const found = await sql.query<Row>(select, [id, ...bindingsOf(actor)])
  const row = found.rows[0]
  if (row === undefined) throw notFound()
  if (row.stdout === null || row.stderr_tail === null || row.stored_at === null) return undefined
  return { stdout: row.stdout, stderrTail: row.stderr_tail, storedAt: row.stored_at }
}
