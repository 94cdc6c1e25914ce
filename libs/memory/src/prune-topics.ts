import type { Pool } from '@toolyard/db/pool'

// index: topic_memory_pkey. The table is walked, in small transactions, because an index on the time would have to be
// written with every outcome. A row that a finish is writing is left alone: this waits for nobody.
const prunePage = `
  with page as materialized (
    select tool, topic from topic_memory
    where (tool, topic) > ($1, $2) order by tool, topic limit $3
  ),
  old as materialized (
    select one.tool, one.topic from page join topic_memory as one using (tool, topic)
    where one.updated_at < clock_timestamp() - make_interval(days => $4)
    for update of one skip locked
  ),
  dropped as (
    delete from topic_memory as one using old where one.tool = old.tool and one.topic = old.topic returning 1
  )
  select tool, topic, (select count(*)::integer from dropped) as dropped
  from page order by tool desc, topic desc limit 1`

const pageRows = 2_000

/**
 * Forgets topics in which a tool was not called for so many days (I8): every conversation may be a topic of its own. What
 * they taught stays in the tool's memory as a whole. Answers how many.
 */
export async function pruneTopics(pool: Pool, keptDays: number): Promise<number> {
  let dropped = 0
  let last = { tool: '', topic: '' }
  for (;;) {
    const { rows } = await pool.query<{ tool: string; topic: string; dropped: number }>(prunePage, [
      last.tool,
      last.topic,
      pageRows,
      keptDays,
    ])
    const page = rows[0]
    if (page === undefined) return dropped
    dropped += page.dropped
    last = page
  }
}
