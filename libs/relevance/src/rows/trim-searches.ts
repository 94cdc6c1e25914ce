import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'

/** About 12 MB of a key; of one that searches all the time the last hours. */
const searchesOfKeyMax = 5_000

const droppedMax = 1_000

// Newer ones take the place of older ones. What is just being dropped is left to whoever does it.
// index: searches_by_key
const trim = prepared(`
  delete from searches where id = any(array(
    select id from searches where key_id = $1
    order by id desc offset $2 limit $3
    for update skip locked
  ))`)

/** I8: calls that come of a search older than these teach nothing. */
export async function trimSearches(sql: Sql, keyId: string, max = searchesOfKeyMax): Promise<void> {
  await sql.query(trim([keyId, max, droppedMax]))
}
