import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import type { StoredLesson } from '../create-searcher.ts'
import { analyze } from '../text/analyze.ts'
import { toVectors } from './vector-bytes.ts'

// Of a topic so many are used, the newest. Of one tool there are never more than 128.
const lessonsOfTopicMax = 5_000

// Every transaction below the horizon has ended, so whatever changes later is at or above it. What is above and known
// already is listed again; it is not read again.
// index: lessons_by_change
const selectChanges = prepared(`
  select state.forgotten, state.horizon, lesson.invocation_id as id, lesson.changed_by
  from (
    select pg_snapshot_xmin(pg_current_snapshot())::text as horizon,
      (select forgotten::text from lesson_topics where topic = $1) as forgotten
  ) as state
  left join lateral (
    select invocation_id, changed_by::text from lessons
    where topic = $1 and changed_by >= $2::xid8
    order by learned_at desc, invocation_id desc limit $3
  ) as lesson on true`)

export type Changes = {
  /** Another than before: lessons of the topic were taken away. Null: not in the last month. */
  forgotten: string | null
  /** Where to go on from. */
  horizon: string
  /** By the id of a lesson, the transaction that wrote it last. */
  changed: ReadonlyMap<string, string>
}

type ChangeRow = { forgotten: string | null; horizon: string; id: string | null; changed_by: string | null }

/** Before everything. */
export const firstHorizon = '0'

export async function readChanges(sql: Sql, topic: string, horizon: string): Promise<Changes> {
  const { rows } = await sql.query<ChangeRow>(selectChanges([topic, horizon, lessonsOfTopicMax]))
  const [first] = rows
  if (first === undefined) throw new Error('a snapshot always has a horizon')
  const changed = rows.flatMap(({ id, changed_by: by }) =>
    id === null || by === null ? [] : [[id, by] as const],
  )
  return { forgotten: first.forgotten, horizon: first.horizon, changed: new Map(changed) }
}

// index: lessons_pkey
const selectLessons = prepared(`
  select invocation_id, tool, topic, query, model_id, vector, reward, learned_at
  from lessons where invocation_id = any($1) order by learned_at, invocation_id`)

type LessonRow = {
  invocation_id: string
  tool: string
  topic: string
  query: string
  model_id: string | null
  vector: Buffer | null
  reward: number
  learned_at: Date
}

/** Of those that are still there. */
export async function readLessons(
  sql: Sql,
  ids: readonly string[],
  dimensions: number,
): Promise<StoredLesson[]> {
  if (ids.length === 0) return []
  const { rows } = await sql.query<LessonRow>(selectLessons([ids]))
  return rows.map((row) => toLesson(row, dimensions))
}

// index: lessons_by_kind
const selectIds = prepared(`
  select invocation_id as id from lessons where topic = $1 and tool = $2 limit $3`)

/** More than there can be, though some finish at this moment. */
const lessonsOfToolMax = 1_000

/** Those that there are of a tool in a topic. */
export async function readLessonIds(sql: Sql, topic: string, tool: string): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>(selectIds([topic, tool, lessonsOfToolMax]))
  return new Set(rows.map(({ id }) => id))
}

function toLesson(row: LessonRow, dimensions: number): StoredLesson {
  const vectors = row.vector === null ? [] : toVectors(row.vector, dimensions)
  return {
    id: row.invocation_id,
    tool: row.tool,
    topic: row.topic,
    atMs: row.learned_at.getTime(),
    reward: row.reward,
    terms: analyze(row.query),
    // Two short ones would be half of a longer one each.
    vector: (vectors.length === 1 ? vectors[0] : undefined) ?? null,
    modelId: row.model_id,
  }
}
