import type { Actor } from '@toolyard/access/actor'
import type { Fault } from '@toolyard/contract/errors'
import { AppError } from '@toolyard/contract/errors'
import type { Scope } from '@toolyard/contract/scopes'
import type { ChangeWebhookBody, WebhookEvent } from '@toolyard/contract/webhooks'

/** The scope that an event's message needs, because it tells what else is read with that scope. */
const scopeOf: Partial<Record<WebhookEvent, Scope>> = {
  'invocation.finished': 'invocations:read',
  'invocation.failed': 'invocations:read',
}

/** A message has the result of an invocation: nobody is sent what they may not read. */
export function refuseUnreadable(scopes: readonly string[], events: readonly WebhookEvent[]): void {
  const faults = events.flatMap((event, index): Fault[] => {
    const scope = scopeOf[event]
    if (scope === undefined || scopes.includes(scope)) return []
    return [{ pointer: `/events/${index}`, detail: `${event} needs a key with the scope ${scope}` }]
  })
  if (faults.length > 0)
    throw new AppError('missing_scope', 'The webhook would be told what its key may not read', { faults })
}

type Changed = { key_id: string; owner_scopes: readonly string[]; events: readonly WebhookEvent[] }

/**
 * Anybody who manages webhooks may end one, and no more of another key's: where it leads and what it tells would
 * outlive the key that chose it. Whoever manages keys could take the owner's place anyway.
 */
export function refuseChange(actor: Actor, webhook: Changed, change: ChangeWebhookBody): void {
  const chosen = Object.keys(change).filter((field) => field !== 'enabled' || change.enabled === true)
  if (chosen.length === 0) return
  const events = change.events ?? webhook.events
  if (actor.kind === 'key') {
    if (actor.key.id !== webhook.key_id && !actor.key.scopes.includes('keys:manage')) throw takeover(chosen)
    refuseUnreadable(actor.key.scopes, events)
  }
  refuseUnreadable(webhook.owner_scopes, events)
}

function takeover(fields: readonly string[]): AppError {
  const detail = 'needs the key that the webhook belongs to, or one with the scope keys:manage'
  const faults = fields.map((field) => ({ pointer: `/${field}`, detail }))
  return new AppError('missing_scope', 'Of a webhook of another key this key may only disable it', { faults })
}
