import type { Sql } from '@toolyard/db/pool'

const select = `
  select progress from images
  where tool = $1 and state = 'building' and progress is not null
  order by changed_at desc
  limit 1`

/** The last line that a build under way has printed; read for one tool at a time, since no epoch moves with it. */
export async function readProgress(sql: Sql, tool: string): Promise<string | null> {
  const found = await sql.query<{ progress: string }>(select, [tool])
  return found.rows[0]?.progress ?? null
}
