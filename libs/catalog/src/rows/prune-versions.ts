import { delayMaxMs, ttlMaxMs } from '@toolyard/contract/call-limits'
import { inBatches } from '@toolyard/db/in-batches'
import type { Pool } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { versionsListedMax } from './list-versions.ts'

// Who names a version that is out of service: calls that came while it served, for as long as they are kept after their
// end, and replays of them, which pin it. The first are gone by their age: a call waits for `delayMaxMs` and `ttlMaxMs`
// at most, and a day is more than any run and the turns of retention take.
const endsWithinDays = Math.ceil((delayMaxMs + ttlMaxMs) / 86_400_000) + 1

// indexes: tools_pkey, images_pkey, invocations_by_pin
const isUnnamed = `
  not exists (select from tools
    where name = version.tool and version.hash in (wanted_hash, current_hash, refused_hash))
  and not exists (select from images where images.hash = version.hash and images.tool = version.tool)
  and not exists (select from invocations where tool = version.tool and pinned_hash = version.hash)`

// index: tool_versions_by_service, which says who has too many; then those of one tool after the other, in the order in
// which they are listed. What served has left service when a later one began to.
const findOld = `
  select one.tool, version.hash
  from (select tool from tool_versions group by tool having count(*) > $1 order by tool) as one
  cross join lateral (
    select tool, hash, found_at, served_at from tool_versions where tool = one.tool
    order by served_at desc nulls last, found_at desc offset $1
  ) as version
  where case when version.served_at is null then version.found_at < now() - make_interval(days => $2)
      else exists (select from tool_versions as next
        where next.tool = version.tool and next.served_at > version.served_at
          and next.served_at < now() - make_interval(days => $2))
    end
    and ${isUnnamed}
  limit $3`

// Whoever names a version holds this lock: see change-catalog.ts. Callers see nothing of what goes, so no epoch moves.
const lockState = 'select from catalog_state for update'

const drop = `
  delete from tool_versions as version
  using unnest($1::text[], $2::text[]) as old (tool, hash)
  where version.tool = old.tool and version.hash = old.hash and ${isUnnamed}`

const rowsMax = 200

/**
 * Drops versions that are listed no more and that nothing names, once the calls of their time are gone. Answers how many.
 */
export async function pruneVersions(pool: Pool, keepInvocationsDays: number): Promise<number> {
  const days = keepInvocationsDays + endsWithinDays
  return inBatches(rowsMax, async (max) => {
    const { rows } = await pool.query<{ tool: string; hash: string }>(findOld, [versionsListedMax, days, max])
    if (rows.length === 0) return 0
    return transaction(pool, async (sql) => {
      await sql.query(lockState)
      const dropped = await sql.query(drop, [rows.map(({ tool }) => tool), rows.map(({ hash }) => hash)])
      return dropped.rowCount ?? 0
    })
  })
}
