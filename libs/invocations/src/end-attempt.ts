import type { Sql } from '@toolyard/db/pool'
import type { Effects } from './after-commit.ts'
import type { Within } from './close-rows.ts'
import { closeRows } from './close-rows.ts'
import type { End } from './decide-end.ts'
import type { LockedRow } from './locked-row.ts'
import { putBack } from './put-back.ts'

/** Carries out what was decided on a locked row. The slot is free afterwards: admit the tool's next. */
export async function endAttempt(
  sql: Sql,
  row: LockedRow,
  end: End,
  within: Within | undefined,
): Promise<Effects> {
  if (end.kind === 'close') {
    await closeRows(sql, [{ row, ...end }], within)
    return { finished: [row.id] }
  }
  const job = await putBack(sql, row, end)
  return job === undefined ? {} : { jobs: [job] }
}
