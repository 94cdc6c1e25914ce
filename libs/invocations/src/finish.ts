import { transaction } from '@toolyard/db/transaction'
import type { Sql } from '@toolyard/db/pool'
import { admitNext } from './admit.ts'
import type { Deps, Effects } from './after-commit.ts'
import type { Hold } from './claim.ts'
import type { Within } from './close-rows.ts'
import type { AttemptOutcome } from './decide-end.ts'
import { decideEnd } from './decide-end.ts'
import { endAttempt } from './end-attempt.ts'
import type { FinalStatus } from './invocation.ts'
import { isFinal } from './invocation.ts'
import type { LockedRow } from './locked-row.ts'
import { lockedColumns, toAttemptFacts } from './locked-row.ts'

export type RawOutput = { stdout: Uint8Array; stderrTail: Uint8Array }

export type FinishInput = {
  hold: Hold
  outcome: AttemptOutcome
  /** For operators; kept apart, and for a shorter time. */
  raw?: RawOutput | undefined
  within?: Within | undefined
}

export type Finished =
  /** `isRepeated`: an earlier call has committed it, and its answer was lost on the way. */
  | { kind: 'closed'; status: FinalStatus; isRepeated: boolean }
  | { kind: 'again'; delayMs: number }
  /** The attempt is not the current one any more: drop the outcome. */
  | { kind: 'lost' }

// I2: no row for a token that is not the current one.
const lockHeld = `
  select ${lockedColumns} from invocations
  where id = $1 and attempt_token = $2
  for no key update`

const keepRaw = `
  insert into invocation_raws (id, stdout, stderr_tail) values ($1, $2, $3)
  on conflict (id) do update
  set stdout = excluded.stdout, stderr_tail = excluded.stderr_tail, stored_at = excluded.stored_at`

/**
 * Writes what came of an attempt: outcome, raw output, memory, deliveries and the admission of the next row in one
 * transaction. Call it again when it throws for a lost database: it commits once, and says so.
 */
export async function finish(
  { pool, afterCommit }: Deps,
  input: FinishInput,
  random: () => number = Math.random,
): Promise<Finished> {
  const { finished, effects } = await transaction(pool, (sql) => finishWithin(sql, input, random()))
  afterCommit.run(effects)
  return finished
}

async function finishWithin(
  sql: Sql,
  { hold, outcome, raw, within }: FinishInput,
  random: number,
): Promise<{ finished: Finished; effects: Effects }> {
  const found = await sql.query<LockedRow>(lockHeld, [hold.id, hold.token])
  const row = found.rows[0]
  if (row === undefined) return { finished: { kind: 'lost' }, effects: {} }
  if (isFinal(row.status))
    return { finished: { kind: 'closed', status: row.status, isRepeated: true }, effects: {} }
  const end = decideEnd(toAttemptFacts(row), outcome, random)
  if (raw !== undefined) await sql.query(keepRaw, [row.id, toBuffer(raw.stdout), toBuffer(raw.stderrTail)])
  const effects = await endAttempt(sql, row, end, within)
  const jobs = [...(effects.jobs ?? []), ...(await admitNext(sql, [row.tool]))]
  const finished: Finished =
    end.kind === 'close'
      ? { kind: 'closed', status: end.status, isRepeated: false }
      : { kind: 'again', delayMs: end.delayMs }
  return { finished, effects: { ...effects, jobs } }
}

const toBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
