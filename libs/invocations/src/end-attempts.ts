import type { Sql } from '@toolyard/db/pool'
import { admitNext } from './admit.ts'
import type { Effects, ReadyJob } from './after-commit.ts'
import type { Closing, Within } from './close-rows.ts'
import { closeRows } from './close-rows.ts'
import type { End } from './decide-end.ts'
import type { LockedRow } from './locked-row.ts'
import { putBack } from './put-back.ts'

export type EndedAttempt = { row: LockedRow; end: End }

/** Carries out what was decided on rows that this transaction has locked, and gives their slots to whoever waits. */
export async function endAttempts(
  sql: Sql,
  ended: readonly EndedAttempt[],
  within: Within | undefined,
): Promise<Effects> {
  if (ended.length === 0) return {}
  const closings: Closing[] = []
  const jobs: ReadyJob[] = []
  for (const { row, end } of ended) {
    if (end.kind === 'close') closings.push({ row, ...end })
    else jobs.push(...(await putBack(sql, row, end)))
  }
  const told = await closeRows(sql, closings, within)
  const admitted = await admitNext(
    sql,
    ended.map(({ row }) => row.tool),
  )
  return { ...told, finished: closings.map(({ row }) => row.id), jobs: [...jobs, ...admitted] }
}
