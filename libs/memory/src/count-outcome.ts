import type { Sql } from '@toolyard/db/pool'
import { bucketOf, countMax } from './latency-buckets.ts'
import { noMemory } from './memory.ts'
import { amountMax } from './spend.ts'
import type { Outcome } from './weigh.ts'
import { turn } from './turn.ts'
import * as rule from './weigh.ts'

// `weighOutcome` in SQL, from the values that the row has when its lock is given.
// $3 success (0 or 1), $4 reward, $5 bucket of its latency from 1 or null, $6 $7 failure
const step = `
  attempts = one.attempts + 1,
  successes = one.successes + $3::integer,
  reward_sum = one.reward_sum + $4,
  weight = greatest(${rule.weightMin}, least(${rule.weightMax}, one.weight + ${rule.learningRate} * (
    (one.successes + $3)::double precision / (one.attempts + 1)
    * (1 + greatest(-${rule.rewardMax}, least(${rule.rewardMax}, (one.reward_sum + $4) / (one.attempts + 1))))
    - one.weight))),
  recent = greatest(${rule.recentMin}, least(1, one.recent + ${rule.recentRate} * ($3 - one.recent))),
  latency = case when $5::integer is null then one.latency
    else one.latency[:$5 - 1] || least(one.latency[$5], ${countMax - 1}) + 1 || one.latency[$5 + 1:] end,
  last_failure_kind = coalesce($6, one.last_failure_kind),
  last_failure_at = coalesce($7, one.last_failure_at),
  updated_at = clock_timestamp()`

// `spend` for a call that tells nothing. $11 day, $12 whether it costs
const spendStep = `
  budget_spent = case when one.budget_day > $11 then one.budget_spent else least(${amountMax},
    case when one.budget_day = $11 then one.budget_spent else 0 end
    + case when $12 and ($3 = 1 or one.budget_remaining is null) then 1 else 0 end) end,
  budget_day = greatest(one.budget_day, $11)`

const insertColumns =
  'attempts, successes, reward_sum, weight, recent, latency, last_failure_kind, last_failure_at'
// $8 to $10: weight, recent and latency after a first outcome
const firstValues = '1, $3, $4, $8, $9, $10::integer[], $6, $7'

// The tool's row comes first, since the topic's waits for what it returns: whoever has its lock has all of the tool.
// indexes: tool_memory_pkey, topic_memory_pkey
const count = `
  with ${turn},
  overall as (
    insert into tool_memory as one (tool, ${insertColumns}, budget_day, budget_spent)
    select $1, ${firstValues}, $11::date, $12::boolean::integer from turn
    on conflict (tool) do update set ${step}, ${spendStep}
    returning tool
  )
  insert into topic_memory as one (tool, topic, ${insertColumns})
  select tool, $2, ${firstValues} from overall
  on conflict (tool, topic) do update set ${step}`

export type CountedOutcome = {
  tool: string
  topic: string
  outcome: Outcome
  /** UTC */
  day: string
  /** Whether the call is to be counted into what the tool has spent: not if that is worked out from its own word. */
  isPaid: boolean
}

/** Moves a tool and its topic by one outcome. Their rows stay locked until the transaction ends. */
export async function countOutcome(sql: Sql, counted: CountedOutcome): Promise<void> {
  const { tool, topic, outcome, day, isPaid } = counted
  const first = rule.weighOutcome(noMemory, outcome)
  await sql.query(count, [
    tool,
    topic,
    outcome.isSuccess ? 1 : 0,
    outcome.reward,
    outcome.latencyMs === null ? null : bucketOf(outcome.latencyMs) + 1,
    outcome.failure?.kind ?? null,
    outcome.failure?.at ?? null,
    first.weight,
    first.recent,
    first.latency,
    day,
    isPaid,
  ])
}
