import type { Json } from '@toolyard/contract/parameters'
import type { Sql } from '@toolyard/db/pool'
import { prepared } from '@toolyard/db/prepared'

const stateKeptDays = 7

// index: tool_states_pkey
const select = prepared(`
  select tool, state from tool_states
  where tool = any($1) and stored_at > statement_timestamp() - interval '${stateKeptDays} days'`)

// Runs may end in another order than they began in: the one that began last knows most. Ids sort by time.
const keep = prepared(`
  insert into tool_states as known (tool, invocation_id, state)
  select distinct on (tool) tool, invocation_id, state::json
  from unnest($1::text[], $2::text[], $3::text[]) as left_by (tool, invocation_id, state)
  order by tool, invocation_id desc
  on conflict (tool) do update
  set invocation_id = excluded.invocation_id, state = excluded.state, stored_at = clock_timestamp()
  where known.invocation_id < excluded.invocation_id`)

/** What the last runs of these tools want to be told. */
export async function readStates(sql: Sql, tools: readonly string[]): Promise<Map<string, Json>> {
  if (tools.length === 0) return new Map()
  const { rows } = await sql.query<{ tool: string; state: Json }>(select([tools]))
  return new Map(rows.map(({ tool, state }) => [tool, state]))
}

export type LeftState = { tool: string; invocationId: string; state: Json }

export async function keepStates(sql: Sql, states: readonly LeftState[]): Promise<void> {
  if (states.length === 0) return
  await sql.query(
    keep([
      states.map(({ tool }) => tool),
      states.map(({ invocationId }) => invocationId),
      states.map(({ state }) => JSON.stringify(state)),
    ]),
  )
}
