import assert from 'node:assert/strict'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'
import { transaction } from '@toolyard/db/transaction'
import type { Deps, Effects } from './after-commit.ts'
import type { Hold } from './claim.ts'
import type { Within } from './close-rows.ts'
import type { AttemptOutcome } from './decide-end.ts'
import { decideEnd } from './decide-end.ts'
import type { EndedAttempt } from './end-attempts.ts'
import { endAttempts } from './end-attempts.ts'
import type { FinalStatus } from '@toolyard/contract/invocations'
import { isFinal } from '@toolyard/contract/invocations'
import type { OwnedRaw, RawOutput } from './keep-raws.ts'
import { keepRaws } from './keep-raws.ts'
import type { LockedRow } from './locked-row.ts'
import { lockedColumns, toAttemptFacts } from './locked-row.ts'

export type FinishInput = {
  hold: Hold
  outcome: AttemptOutcome
  /** For operators; kept apart, and for a shorter time. */
  raw?: RawOutput | undefined
}

export type Finished =
  /** `isRepeated`: an earlier call has committed it, and its answer was lost on the way. */
  | { kind: 'closed'; status: FinalStatus; isRepeated: boolean }
  | { kind: 'again'; delayMs: number }
  /** The attempt is not the current one any more: drop the outcome. */
  | { kind: 'lost' }

export type FinishOptions = {
  /** What else is written with the outcomes. */
  within?: Within | undefined
  random?: () => number
}

// I2: no row for a token that is not the current one.
const lockHeld = prepared(`
  select ${lockedColumns} from invocations
  where (id, attempt_token) in (select id, token from unnest($1::text[], $2::uuid[]) as hold (id, token))
  order by id
  for no key update`)

/** As `finishAll` for one. */
export async function finish(
  deps: Deps,
  { within, ...input }: FinishInput & { within?: Within | undefined },
  random: () => number = Math.random,
): Promise<Finished> {
  const [finished] = await finishAll(deps, [input], { within, random })
  assert.ok(finished, 'one is answered')
  return finished
}

/**
 * Writes what came of attempts: outcomes, raw outputs, memory, deliveries and the admission of the next rows in one
 * transaction. An answer for each, in their order. Call it again when it throws for a lost database: it commits once,
 * and says so.
 */
export async function finishAll(
  { pool, afterCommit }: Deps,
  inputs: readonly FinishInput[],
  options: FinishOptions = {},
): Promise<Finished[]> {
  const { finished, effects } = await transaction(pool, (sql) => finishWithin(sql, inputs, options), {
    opensHarmlessly: true,
  })
  afterCommit.run(effects)
  return finished
}

async function finishWithin(
  sql: Sql,
  inputs: readonly FinishInput[],
  { within, random = Math.random }: FinishOptions,
): Promise<{ finished: Finished[]; effects: Effects }> {
  const found = await sql.query<LockedRow>(
    lockHeld([inputs.map(({ hold }) => hold.id), inputs.map(({ hold }) => hold.token)]),
  )
  const rows = new Map(found.rows.map((row) => [row.attempt_token, row]))
  const ended = new Map<LockedRow, EndedAttempt>()
  const raws: OwnedRaw[] = []
  const finished = inputs.map(({ hold, outcome, raw }): Finished => {
    const row = rows.get(hold.token)
    if (row === undefined) return { kind: 'lost' }
    const before = endedBefore(row, ended.get(row))
    if (before !== undefined) return before
    const end = decideEnd(toAttemptFacts(row), outcome, random())
    ended.set(row, { row, end })
    if (raw !== undefined) raws.push({ id: row.id, raw })
    return end.kind === 'close'
      ? { kind: 'closed', status: end.status, isRepeated: false }
      : { kind: 'again', delayMs: end.delayMs }
  })
  const [, effects] = await Promise.all([keepRaws(sql, raws), endAttempts(sql, [...ended.values()], within)])
  return { finished, effects }
}

/** What a repeated call is told: by an earlier transaction, or earlier in this one. */
function endedBefore(row: LockedRow, ended: EndedAttempt | undefined): Finished | undefined {
  if (isFinal(row.status)) return { kind: 'closed', status: row.status, isRepeated: true }
  if (ended === undefined) return undefined
  const { end } = ended
  return end.kind === 'close' ? { kind: 'closed', status: end.status, isRepeated: true } : { kind: 'lost' }
}
