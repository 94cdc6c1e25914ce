import type { Actor } from '@toolyard/access/actor'
import { actorReference } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { seenAmong } from '../schedules/seen-tools.ts'
import type { Prompt, PromptRow } from './prompt.ts'
import { isFree, promptColumns, toPrompt } from './prompt.ts'

export type ClaimRequest = {
  tool?: string | undefined
  limit?: number | undefined
  /** How long it is nobody else's; after that whoever comes gets it again. */
  leaseSeconds?: number | undefined
}

/** `claim`: proves, when it is acknowledged, that nobody has claimed it since. */
export type ClaimedPrompt = Prompt & { claim: string }

const limitMax = 100
const leaseDefaultSeconds = 300
const leaseMaxSeconds = 3_600

// What another is just claiming is left to it.
// indexes: prompts_open, or prompts_open_by_tool
const claim = `
  with mine as (
    update prompts
    set status = 'claimed', claim = gen_random_uuid(), claimed_by = $1, claims = claims + 1,
      lease_until = clock_timestamp() + make_interval(secs => $2)
    where id = any(array(
      select id from prompts
      where ${isFree} and ($3::text[] is null or tool = any($3))
      order by priority, created_at, id limit $4
      for update skip locked))
    returning *
  )
  select ${promptColumns}, claim from mine order by priority, created_at, id`

/** Gives this actor prompts to work through, the most important first, then the oldest; to nobody else meanwhile. */
export async function claimPrompts(
  pool: Pool,
  actor: Actor,
  { tool, limit = 1, leaseSeconds = leaseDefaultSeconds }: ClaimRequest = {},
): Promise<ClaimedPrompt[]> {
  const faults = [
    ...wholeFaults('/limit', limit, limitMax),
    ...wholeFaults('/lease_seconds', leaseSeconds, leaseMaxSeconds),
  ]
  if (faults.length > 0) throw new AppError('invalid_request', 'The request has faults', { faults })
  const tools = seenAmong(actor, tool)
  if (tools?.length === 0) return []
  const { rows } = await pool.query<PromptRow & { claim: string }>(claim, [
    actorReference(actor),
    leaseSeconds,
    tools,
    limit,
  ])
  return rows.map(toClaimed)
}

const toClaimed = (row: PromptRow & { claim: string }): ClaimedPrompt => ({
  ...toPrompt(row),
  claim: row.claim,
})

function wholeFaults(pointer: string, value: number, max: number) {
  const fits = Number.isInteger(value) && value >= 1 && value <= max
  return fits ? [] : [{ pointer, detail: `must be a whole number from 1 to ${max}` }]
}
