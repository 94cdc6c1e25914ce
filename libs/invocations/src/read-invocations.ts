import type { Sql } from '@toolyard/db/pool'
import type { Invocation, InvocationRow } from './invocation.ts'
import { toInvocation } from './invocation.ts'
import { workerAliveSeconds } from './limits.ts'

const isAlive = `seen_at > statement_timestamp() - interval '${workerAliveSeconds} seconds'`

// Why a queued row does not run, the first of the reasons that hold. Null: nothing but its turn is missing.
const waitingFor = `
  case when one.status = 'queued' then
    case
      when one.gate = 'delayed' and one.not_before > clock_timestamp() then 'delayed'
      when not exists (select from switches where name = 'tools_enabled' and is_on) then 'tools_disabled'
      when tool.name is null or not tool.enabled or tool.removed_at is not null then 'tool_disabled'
      when not exists (select from workers where ${isAlive}) then 'no worker'
      when not exists (
        select from workers join images on images.engine_id = workers.engine_id
        where images.hash = coalesce(one.pinned_hash, tool.current_hash) and images.state = 'ready' and ${isAlive}
      ) then 'image building'
      when one.gate = 'held' then 'concurrency limit'
    end
  end`

/** All but the result, of `invocations as one`. */
export const invocationColumns = `
  one.id, one.tool, one.topic, one.key_id, one.status, one.priority, one.attempts, one.created_at, one.due_at,
  one.expires_at, one.started_at, one.finished_at, one.reward, one.feedback, one.search_id, one.replay_of,
  one.cancel_requested_at is not null as cancel_requested,
  version.hash, version.version as tool_version, input.metadata, outcome.failure, ${waitingFor} as waiting_for`

// The large tables are read row by row (`limit 1` keeps them from being joined): for a join by their ids the planner looks
// up the first and the last of each, behind all that retention has dropped and no vacuum has cleared yet: 3 ms each time.
export const invocationJoins = `
  left join tools as tool on tool.name = one.tool
  left join lateral (
    select metadata from invocation_inputs where id = one.id limit 1
  ) as input on true
  left join lateral (
    select result, failure from invocation_outcomes where id = one.id limit 1
  ) as outcome on true
  cross join lateral (
    select named.hash, known.version
    from (select coalesce(one.ran_hash, one.pinned_hash, one.submitted_hash) as hash) as named
    left join tool_versions as known on known.tool = one.tool and known.hash = named.hash
  ) as version`

// index: invocations_pkey
const select = `
  select ${invocationColumns}, outcome.result
  from invocations as one ${invocationJoins}
  where one.id = any($1)`

/** Those of these ids that exist, in no order, for whoever may see them all. At most a batch of them. */
export async function findInvocations(sql: Sql, ids: readonly string[]): Promise<Invocation[]> {
  const found = await sql.query<InvocationRow>(select, [ids])
  return found.rows.map(toInvocation)
}
