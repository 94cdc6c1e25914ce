import type { Actor } from '@toolyard/access/actor'
import { actorReference } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { seenTools } from '../schedules/seen-tools.ts'
import { isPromptId } from './prompt.ts'

export type Acked =
  | { kind: 'acked' }
  /** By an earlier call; its answer may have been lost. */
  | { kind: 'already_acked' }
  /** It was not claimed, or its lease ran out and somebody else has it, or newer ones took its place. */
  | { kind: 'not_held' }

export type Acknowledgement = {
  id: string
  /** As it was given with the claim. Without it the last claim of the same key counts. */
  claim?: string | undefined
}

// A lease that has run out still counts while nobody else has claimed it.
// index: prompts_pkey
const ack = `
  update prompts set status = 'acked', ended_at = clock_timestamp()
  where id = $1 and ($2::text[] is null or tool = any($2)) and status = 'claimed' and claimed_by = $3
    and ($4::uuid is null or claim = $4)`

const find = `
  select status = 'acked' and claimed_by = $3 and ($4::uuid is null or claim = $4) as is_acked
  from prompts where id = $1 and ($2::text[] is null or tool = any($2))`

/** Says that a claimed prompt was worked through: nobody gets it again. */
export async function ackPrompt(pool: Pool, actor: Actor, { id, claim }: Acknowledgement): Promise<Acked> {
  if (!isPromptId(id)) throw noSuchPrompt()
  if (claim !== undefined && !isUuid(claim)) return { kind: 'not_held' }
  const values = [id, seenTools(actor), actorReference(actor), claim ?? null]
  const { rowCount } = await pool.query(ack, values)
  if (rowCount === 1) return { kind: 'acked' }
  const { rows } = await pool.query<{ is_acked: boolean }>(find, values)
  if (rows[0] === undefined) throw noSuchPrompt()
  return rows[0].is_acked ? { kind: 'already_acked' } : { kind: 'not_held' }
}

const isUuid = (text: string) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

const noSuchPrompt = () => new AppError('not_found', 'There is no such prompt')
