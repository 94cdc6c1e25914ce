import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import { lessonsMax } from '../learning/create-lessons.ts'

// Successes, failures, and what feedback has made neither, each for itself. A row that is just being forgotten goes by
// itself: this waits for nobody.
// index: lessons_by_kind
const trim = prepared(`
  delete from lessons where invocation_id = any(array(
    select invocation_id from lessons where invocation_id = any(array(
      select old.invocation_id
      from (select distinct tool, topic from unnest($1::text[], $2::text[]) as one (tool, topic)) as one
      cross join (values (1), (0), (-1)) as kind (sign)
      cross join lateral (
        select invocation_id from lessons
        where tool = one.tool and topic = one.topic and sign(reward) = kind.sign
        order by learned_at desc, invocation_id desc offset $3
      ) as old
    ))
    for update skip locked
  ))`)

/** I8: of each kind the newest few of a tool in a topic. Processes that have them in memory let go of the same. */
export async function trimLessons(
  sql: Sql,
  places: readonly { tool: string; topic: string }[],
): Promise<void> {
  if (places.length === 0) return
  await sql.query(trim([places.map(({ tool }) => tool), places.map(({ topic }) => topic), lessonsMax]))
}
