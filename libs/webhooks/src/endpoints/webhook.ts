import type { Actor } from '@toolyard/access/actor'
import { mayUseTool, mayUseTopic } from '@toolyard/access/key-bindings'
import { AppError } from '@toolyard/contract/errors'
import type { Fault } from '@toolyard/contract/errors'
import type { WebhookEvent, WebhookShape } from '@toolyard/contract/webhooks'

export type WebhookRow = {
  id: string
  key_id: string
  url: string
  description: string
  events: WebhookEvent[]
  tools: string[] | null
  topics: string[] | null
  enabled: boolean
  paused_reason: string | null
  paused_at: Date | null
  failing_since: Date | null
  secret_no: number
  rotated_until: Date | null
  created_at: Date
  updated_at: Date
}

export const webhookColumns = `
  id, key_id, url, description, events, tools, topics, enabled, paused_reason, paused_at, failing_since,
  secret_no, rotated_until, created_at, updated_at`

/**
 * Of a row with `key_id`: a bound key sees its own alone. `$n` is what `ownerOf` answers.
 */
export const isOwned = (parameter: string) => `(${parameter}::text is null or key_id = ${parameter})`

/** Whose webhooks and deliveries these may be; null: anybody's. */
export function ownerOf(actor: Actor): string | null {
  if (actor.kind === 'operator') return null
  const { id, topics, tools } = actor.key
  return topics === null && tools === null ? null : id
}

const refPattern = /^whk_[0-9a-z]{26}$/

/** Other text is never sent to the database, which could not even hold some of it. */
export const isWebhookRef = (text: string) => refPattern.test(text)

export const webhookTarget = (id: string) => `webhook:${id}`

export const noSuchWebhook = () => new AppError('not_found', 'There is no such webhook')

/** It would be told nothing of what its key may not see; that it was asked for is said at once. */
export function refuseForeign(
  actor: Actor,
  {
    tools,
    topics,
  }: { tools?: readonly string[] | null | undefined; topics?: readonly string[] | null | undefined },
): void {
  if (actor.kind === 'operator') return
  const { key } = actor
  const faults: Fault[] = [
    ...foreign('/tools', tools, (tool) => mayUseTool(key, tool)),
    ...foreign('/topics', topics, (topic) => mayUseTopic(key, topic)),
  ]
  if (faults.length > 0) throw new AppError('invalid_request', 'The request has faults', { faults })
}

function foreign(
  pointer: string,
  given: readonly string[] | null | undefined,
  may: (one: string) => boolean,
) {
  return (given ?? []).flatMap((one, index) =>
    may(one) ? [] : [{ pointer: `${pointer}/${index}`, detail: 'is not within the bindings of this key' }],
  )
}

export function toWebhookShape(row: WebhookRow): WebhookShape {
  const { paused_reason: reason, paused_at: at } = row
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: row.events,
    tools: row.tools,
    topics: row.topics,
    enabled: row.enabled,
    paused: reason === null || at === null ? null : { reason, at: at.toISOString() },
    failing_since: row.failing_since?.toISOString() ?? null,
    rotated_until: row.rotated_until?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
