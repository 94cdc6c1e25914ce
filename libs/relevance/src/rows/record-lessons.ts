import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { ClosedInvocation } from '@toolyard/invocations/close-rows'
import { trimLessons } from './trim-lessons.ts'

// A search teaches only whose it is, and where it belongs: with the id of another key's, or of another topic's, nothing is
// learned and nothing is told. No foreign key, so a search that was dropped meanwhile is just not there.
// Whoever calls a tool again and again after one search has searched for it once: it teaches the first success and the first
// failure of each tool. Feedback may have made either the other, so they are counted as well.
// indexes: searches_pkey, lessons_by_kind
const insert = prepared(`
  insert into lessons (invocation_id, search_id, tool, topic, query, model_id, vector, reward)
  select distinct on (one.id, ended.tool, sign(ended.reward))
    ended.id, one.id, ended.tool, ended.topic, one.query, one.model_id, one.vector, ended.reward
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::double precision[])
    with ordinality as ended (id, tool, topic, key_id, search_id, reward, place)
  join searches as one on one.id = any(array[ended.search_id])
    and one.key_id = ended.key_id and one.topic = ended.topic
  where (
    select count(*) < 2 and count(*) filter (where sign(known.reward) = sign(ended.reward)) = 0
    from lessons as known
    where known.tool = ended.tool and known.topic = ended.topic and known.search_id = one.id
  )
  order by one.id, ended.tool, sign(ended.reward), ended.place
  on conflict (invocation_id) do nothing
  returning tool, topic`)

/**
 * What calls that a search led to have taught, in the transaction that closes them, which is what makes it happen once for
 * each (I3). To be called after the memory was written: whoever writes lessons of a tool holds the lock of its memory, so
 * that two who end calls of one tool cannot both keep one too many.
 */
export async function recordLessons(sql: Sql, closed: readonly ClosedInvocation[]): Promise<void> {
  const taught = closed.filter(
    ({ searchId, keyId, reward }) => searchId !== null && keyId !== null && reward !== null,
  )
  if (taught.length === 0) return
  const { rows } = await sql.query<{ tool: string; topic: string }>(
    insert([
      taught.map(({ id }) => id),
      taught.map(({ tool }) => tool),
      taught.map(({ topic }) => topic),
      taught.map(({ keyId }) => keyId),
      taught.map(({ searchId }) => searchId),
      taught.map(({ reward }) => reward),
    ]),
  )
  await trimLessons(sql, rows)
}
