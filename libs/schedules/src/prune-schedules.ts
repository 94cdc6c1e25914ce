import { newPrefixedId } from '@toolyard/contract/ids'
import { daysAgoMs } from '@toolyard/db/days-ago-ms'
import { inBatches } from '@toolyard/db/in-batches'
import type { Pool } from '@toolyard/db/pool'

/** In days. A state is not handed back after seven, however long it is kept. */
export type ScheduleRetention = { tickDays: number; promptDays: number; stateDays: number }
export type PrunedSchedules = { ticks: number; prompts: number; states: number }

// index: ticks_by_age. Then by their place, which a locked row keeps: to join them by their key may read the whole table.
// A tick that is gone would run again in a backfill, so it goes a day after the last backfill that reaches it.
const dropTicks = `
  delete from ticks where ctid = any(array(
    select ctid from ticks
    where written_at < statement_timestamp() - make_interval(days => $1 + 1) and ended_at is not null
    order by written_at limit $2 for update skip locked))`

// index: prompts_pkey. Ids sort by time; what nobody has wanted for so long goes too.
const dropPrompts = `
  delete from prompts where id = any(array(
    select id from prompts where id < $1 order by id limit $2 for update skip locked))`

// index: tool_states_by_age
const dropStates = `
  delete from tool_states where tool = any(array(
    select tool from tool_states
    where stored_at < statement_timestamp() - make_interval(days => $1)
    order by stored_at limit $2 for update skip locked))`

const rowsMax = 500

/** Drops what is kept no longer, in small transactions, so that no lock lasts. */
export async function pruneSchedules(
  pool: Pool,
  { tickDays, promptDays, stateDays }: ScheduleRetention,
): Promise<PrunedSchedules> {
  const oldest = newPrefixedId('prm', await daysAgoMs(pool, promptDays))
  const drop = (statement: string, bound: unknown) =>
    inBatches(rowsMax, async (max) => (await pool.query(statement, [bound, max])).rowCount ?? 0)
  return {
    ticks: await drop(dropTicks, tickDays),
    prompts: await drop(dropPrompts, oldest),
    states: await drop(dropStates, stateDays),
  }
}
