import type { Actor } from '@toolyard/access/actor'
import { reachOf } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'
import { isToolName } from '@toolyard/contract/keys'

const prefix = 'cron:'

/** The topic of all that comes of a tool's ticks. It belongs to the platform: nobody may name it for a call. */
export const topicOf = (tool: string) => `${prefix}${tool}`

export const isTickTopic = (topic: string) => topic.startsWith(prefix)

/**
 * The tools whose schedules and prompts this actor may see; null: all of them. As with invocations, a key that is bound
 * to topics sees what belongs to those alone, and a schedule and its prompts belong to the topic of its ticks.
 */
export function seenTools(actor: Actor): readonly string[] | null {
  const { topics, tools } = reachOf(actor)
  if (topics === null) return tools
  const named = topics.filter(isTickTopic).map((topic) => topic.slice(prefix.length))
  return tools === null ? named : named.filter((tool) => tools.includes(tool))
}

/** What is asked for, of what may be seen. */
export function seenAmong(actor: Actor, tool: string | undefined): readonly string[] | null {
  const seen = seenTools(actor)
  if (tool === undefined) return seen
  return isToolName(tool) && (seen === null || seen.includes(tool)) ? [tool] : []
}

/** The same for what does not exist and for what this key may not see. */
export const noSuchSchedule = () => new AppError('not_found', 'There is no such schedule')

export function requireSeen(actor: Actor, tool: string): void {
  if (seenAmong(actor, tool)?.length === 0) throw noSuchSchedule()
}
