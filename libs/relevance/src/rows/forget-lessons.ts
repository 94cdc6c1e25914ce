import type { Call } from '@toolyard/access/actor'
import { reachOf } from '@toolyard/access/actor'
import { requireActorScope } from '@toolyard/access/require-scope'
import { writeAudit } from '@toolyard/access/write-audit'
import { AppError } from '@toolyard/contract/errors'
import { isStorable } from '@toolyard/contract/storable'
import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { takeLessonsAway } from './take-lessons-away.ts'

/** What is to be forgotten: all that is told must hold. */
export type ForgetRequest = { tool?: string | undefined; topic?: string | undefined }

// indexes: lessons_by_kind, lessons_by_change. What a finish is just writing is newer than this.
const forget = `
  with gone as (
    delete from lessons
    where ($1::text is null or tool = $1) and ($2::text is null or topic = $2)
      and ($3::text[] is null or tool = any($3)) and ($4::text[] is null or topic = any($4))
    returning search_id, topic
  ),
  searched as (delete from searches where id in (select search_id from gone))
  select topic from gone`

// What was searched for in a topic may lie there as words alone, and would teach as soon as a call ends.
const forgetSearches = 'delete from searches where topic = $1'

/** Takes away what searches have taught, and the words that taught it. Answers how many lessons. */
export async function forgetLessons(pool: Pool, call: Call, { tool, topic }: ForgetRequest): Promise<number> {
  requireActorScope(call.actor, 'tools:manage')
  if (tool === undefined && topic === undefined) {
    const faults = [{ pointer: '/tool', detail: 'or "topic" is required: what is to be forgotten is named' }]
    throw new AppError('invalid_request', 'The request has faults', { faults })
  }
  const { tools, topics } = reachOf(call.actor)
  requireKnown(tool, tools, 'There is no such tool')
  requireKnown(topic, topics, 'There is no such topic')
  return transaction(pool, async (sql) => {
    const values = [tool ?? null, topic ?? null, tools, topics]
    const count = await takeLessonsAway(sql, async () => {
      const { rows } = await sql.query<{ topic: string }>(forget, values)
      return rows.map((row) => row.topic)
    })
    // Of a key that is bound to tools, the words may be of others too.
    if (tool === undefined && tools === null) await sql.query(forgetSearches, [topic])
    await writeAudit(sql, call, {
      action: 'lessons.forget',
      target: tool === undefined ? `topic:${topic}` : `tool:${tool}`,
      detail: { ...(topic === undefined ? {} : { topic }), count },
    })
    return count
  })
}

function requireKnown(name: string | undefined, reach: readonly string[] | null, message: string): void {
  if (name === undefined) return
  // A text that Postgres could not compare with names nothing.
  if (!isStorable(name) || (reach !== null && !reach.includes(name))) throw new AppError('not_found', message)
}
