import type { Fault } from '@toolyard/contract/errors'
import { AppError } from '@toolyard/contract/errors'
import type { NewKeyBody } from '@toolyard/contract/keys'
import type { AccessKey } from './access-key.ts'
import type { Actor } from './actor.ts'

/** Nobody gives what they do not have: scopes, bindings and lifetime of a new key stay within those of its maker. */
export function refuseEscalation(actor: Actor, body: NewKeyBody): void {
  if (actor.kind === 'operator') return
  const scopeFaults = beyondScopes(actor.key, body)
  const faults = [
    ...scopeFaults,
    ...beyondBinding('topics', actor.key.topics, body.topics),
    ...beyondBinding('tools', actor.key.tools, body.tools),
    ...beyondExpiry(actor.key, body),
  ]
  if (faults.length === 0) return
  const code = scopeFaults.length > 0 ? 'missing_scope' : 'invalid_request'
  throw new AppError(code, 'A key cannot make a key that may do more than itself', { faults })
}

function beyondScopes(key: AccessKey, body: NewKeyBody): Fault[] {
  return body.scopes.flatMap((scope, index) =>
    key.scopes.includes(scope)
      ? []
      : [{ pointer: `/scopes/${index}`, detail: `this key lacks ${scope} itself` }],
  )
}

function beyondBinding(
  field: 'topics' | 'tools',
  own: readonly string[] | null,
  wanted: readonly string[] | undefined,
): Fault[] {
  if (own === null) return []
  if (wanted === undefined) {
    return [{ pointer: `/${field}`, detail: `is required, because this key is bound to ${field} itself` }]
  }
  return wanted.flatMap((one, index) =>
    own.includes(one)
      ? []
      : [{ pointer: `/${field}/${index}`, detail: `is not among the ${field} of this key` }],
  )
}

function beyondExpiry(key: AccessKey, body: NewKeyBody): Fault[] {
  if (key.expiresAt === null) return []
  const latest = key.expiresAt.toISOString()
  if (body.expires_at === undefined) {
    return [{ pointer: '/expires_at', detail: `is required, because this key expires itself (${latest})` }]
  }
  // Written so that a date that cannot be read is refused too.
  const isWithin = Date.parse(body.expires_at) <= key.expiresAt.getTime()
  return isWithin
    ? []
    : [{ pointer: '/expires_at', detail: `must not be later than ${latest}, when this key expires` }]
}
