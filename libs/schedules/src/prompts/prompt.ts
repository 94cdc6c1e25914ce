import { newPrefixedId } from '@toolyard/contract/ids'
import { topicOf } from '../schedules/seen-tools.ts'
import type { EndedRun } from '../ticks/count-ends.ts'

export const priorities = ['critical', 'normal', 'low'] as const
export type Priority = (typeof priorities)[number]

export type NewPrompt = {
  id: string
  tool: string
  invocationId: string
  tickAt: Date
  priority: Priority
  text: string
}

/** One that an agent can claim from now on; all that a `prompt.created` has to say. */
export type CreatedPrompt = Omit<NewPrompt, 'text'> & { topic: string }

/** A prompt as an agent is given it. */
export type Prompt = {
  id: string
  tool: string
  invocation_id: string
  tick_at: string
  priority: Priority
  prompt: string
  status: 'waiting' | 'claimed' | 'acked' | 'superseded'
  created_at: string
  /** How often it was claimed. */
  claims: number
  /** Until then it is nobody else's. */
  claimed_until: string | null
}

/** What a run leaves for the agent: the manifest's words, and what the tool wrote (sanitised where it was read). */
export function toNewPrompt({ closed, tickAt, prompt }: EndedRun): NewPrompt | undefined {
  const { status, result, notes } = closed
  // A failure says what it has to say as a failed invocation.
  if (status !== 'succeeded' || result === null || prompt === null || notes?.notify === false)
    return undefined
  return {
    id: newPrefixedId('prm'),
    tool: closed.tool,
    invocationId: closed.id,
    tickAt,
    priority: notes?.priority ?? 'normal',
    text: `${prompt}\n\n--- Tool Data ---\n${result.text}`,
  }
}

export const toCreated = ({ id, tool, invocationId, tickAt, priority }: NewPrompt): CreatedPrompt => ({
  id,
  tool,
  topic: topicOf(tool),
  invocationId,
  tickAt,
  priority,
})

export type PromptRow = {
  id: string
  tool: string
  invocation_id: string
  tick_at: Date
  priority: number
  text: string
  status: Prompt['status']
  created_at: Date
  claims: number
  lease_until: Date | null
}

// What nobody has acknowledged in time waits again.
export const promptColumns = `
  id, tool, invocation_id, tick_at, priority, text, created_at, claims,
  case when status = 'claimed' and lease_until <= clock_timestamp() then 'waiting' else status end as status,
  case when status = 'claimed' and lease_until > clock_timestamp() then lease_until end as lease_until`

export function toPrompt(row: PromptRow): Prompt {
  return {
    id: row.id,
    tool: row.tool,
    invocation_id: row.invocation_id,
    tick_at: row.tick_at.toISOString(),
    priority: priorities[row.priority] ?? 'normal',
    prompt: row.text,
    status: row.status,
    created_at: row.created_at.toISOString(),
    claims: row.claims,
    claimed_until: row.lease_until?.toISOString() ?? null,
  }
}

/** Other text is never sent to the database, which could not even hold some of it. */
export const isPromptId = (text: string) => /^prm_[0-9a-hjkmnp-tv-z]{26}$/.test(text)

/** Nobody has it: it was never claimed, or not acknowledged in time. */
export const isFree = `ended_at is null and (status = 'waiting' or lease_until <= statement_timestamp())`
