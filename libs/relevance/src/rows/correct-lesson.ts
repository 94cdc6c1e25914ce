import type { Sql } from '@toolyard/db/pool'
import type { GivenFeedback } from '@toolyard/invocations/give-feedback'
import { trimLessons } from './trim-lessons.ts'

// index: lessons_pkey. One that was forgotten stays so.
const correct = `
  update lessons set reward = $2, changed_by = pg_current_xact_id() where invocation_id = $1
  returning tool, topic`

/** Feedback says better than the outcome what a call was worth. In the transaction that keeps it, after the memory. */
export async function correctLesson(sql: Sql, { id, feedback }: GivenFeedback): Promise<void> {
  const { rows } = await sql.query<{ tool: string; topic: string }>(correct, [id, feedback])
  await trimLessons(sql, rows)
}
