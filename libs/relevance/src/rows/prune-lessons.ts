import { newPrefixedId } from '@toolyard/contract/ids'
import { daysAgoMs } from '@toolyard/db/days-ago-ms'
import { inBatches } from '@toolyard/db/in-batches'
import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { takeLessonsAway } from './take-lessons-away.ts'

/** As long as an invocation may wait to be run: a call that ends later than that after its search teaches nothing. */
const searchDays = 7
/** What no process has asked for in that time: the texts of tools that have changed or gone. */
const vectorDays = 30
const forgottenDays = 30

// index: lessons_by_age. What is just being corrected or forgotten is left alone: this waits for nobody.
const dropLessons = `
  delete from lessons where invocation_id = any(array(
    select invocation_id from lessons
    where learned_at < statement_timestamp() - make_interval(days => $1)
    order by learned_at limit $2
    for update skip locked
  ))
  returning topic`

// Processes read a topic anew that nobody has asked for in a day, so this is long enough for all to have heard of it.
const dropTopics = `
  delete from lesson_topics where topic = any(array(
    select topic from lesson_topics
    where forgotten_at < statement_timestamp() - make_interval(days => $1)
    limit $2
    for update skip locked
  ))`

// index: searches_pkey. Ids are given by the clocks of the processes, so the time is looked at too.
const dropSearches = `
  delete from searches where id = any(array(
    select id from searches
    where id < $1 and created_at < statement_timestamp() - make_interval(days => $2)
    order by id limit $3
    for update skip locked
  ))`

const dropVectors = `
  delete from text_vectors where (model_id, text_hash) in (
    select model_id, text_hash from text_vectors
    where used_at < statement_timestamp() - make_interval(days => $1)
    limit $2
    for update skip locked
  )`

const rowsMax = 500

export type PrunedLessons = { lessons: number; searches: number; vectors: number }

/** Drops what was learned so many days ago, searches that teach no more, and vectors of texts that are gone. */
export async function pruneLessons(pool: Pool, keptDays: number): Promise<PrunedLessons> {
  const bound = newPrefixedId('srch', await daysAgoMs(pool, searchDays))
  const count = async (statement: string, values: unknown[]) =>
    (await pool.query(statement, values)).rowCount ?? 0
  await inBatches(rowsMax, (max) => count(dropTopics, [forgottenDays, max]))
  return {
    lessons: await inBatches(rowsMax, (max) => dropOldLessons(pool, keptDays, max)),
    searches: await inBatches(rowsMax, (max) => count(dropSearches, [bound, searchDays, max])),
    vectors: await inBatches(rowsMax, (max) => count(dropVectors, [vectorDays, max])),
  }
}

async function dropOldLessons(pool: Pool, keptDays: number, max: number): Promise<number> {
  return transaction(pool, (sql) =>
    takeLessonsAway(sql, async () => {
      const { rows } = await sql.query<{ topic: string }>(dropLessons, [keptDays, max])
      return rows.map(({ topic }) => topic)
    }),
  )
}
