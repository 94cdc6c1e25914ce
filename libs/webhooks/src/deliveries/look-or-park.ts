import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import { idsIn } from './ids-in.ts'
import type { NotYet } from './judge-look.ts'
import { judgeLook } from './judge-look.ts'
import type { Look } from './look.ts'
import { lookAt } from './look.ts'

// index: deliveries_pkey
const write = prepared(`
  update deliveries set parked_by = $2
  where id = any(array(
    select id from deliveries where id = ${idsIn('$1')} and status = 'waiting' order by id for update))`)

const looksMax = 5
const againMs = 100

/**
 * What stands in the way of each of these, or how it looks if nothing does. Who is crowded is parked, for just that
 * reason: a receiver that hangs would otherwise keep as many jobs coming back as wait for it. Then it is looked at
 * again: whoever had ended a try before it was parked could not know that he was to call it.
 */
export async function lookOrPark(sql: Sql, ids: readonly string[]): Promise<(Look | NotYet)[]> {
  const found = new Map<string, Look | NotYet>()
  let open = [...new Set(ids)]
  for (let looks = 0; open.length > 0 && looks < looksMax; looks++) {
    const seen = await lookAt(sql, open)
    const crowded = Map.groupBy(open, (id) => {
      const look = seen.get(id)
      const notYet = judgeLook(look)
      found.set(id, notYet ?? look ?? { kind: 'not_now' })
      return notYet?.kind === 'crowded' && look?.parked_by !== notYet.by ? notYet.by : undefined
    })
    crowded.delete(undefined)
    for (const [by, those] of crowded) await sql.query(write([JSON.stringify(those), by]))
    open = [...crowded.values()].flat()
  }
  for (const id of open) found.set(id, { kind: 'waits', againMs })
  return ids.map((id) => found.get(id) ?? { kind: 'not_now' })
}
