import type { Sql } from '@toolyard/db/pool'

// One after the other, and before a lesson is touched: who deletes lessons first would wait here for who waits for these.
const lock = 'select 1 from lesson_state for update'

// The release before looks at this.
const move = 'update lesson_state set forgotten = forgotten + 1'

const note = `
  insert into lesson_topics (topic) select distinct unnest($1::text[])
  on conflict (topic) do update set forgotten = excluded.forgotten, forgotten_at = excluded.forgotten_at`

/** Deletes lessons in the transaction of the caller; `remove` answers of which topics. All processes are told of these alone. */
export async function takeLessonsAway(sql: Sql, remove: () => Promise<readonly string[]>): Promise<number> {
  await sql.query(lock)
  const topics = await remove()
  if (topics.length === 0) return 0
  await sql.query(move)
  await sql.query(note, [topics])
  return topics.length
}
