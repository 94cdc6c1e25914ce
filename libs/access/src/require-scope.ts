import { AppError } from '@toolyard/contract/errors'
import type { Scope } from '@toolyard/contract/scopes'
import type { AccessKey } from './access-key.ts'
import type { Actor } from './actor.ts'

/**
 * Lacking a scope is told as such (403 at the edge): the routes are public knowledge, so it gives nothing away.
 * Objects that a key may not see are `not_found` instead, because whether they exist is not public.
 */
export function requireScope(key: AccessKey, scope: Scope): void {
  requireAnyScope(key, [scope])
}

/** Where one of several is enough. */
export function requireAnyScope(key: AccessKey, anyOf: readonly [Scope, ...Scope[]]): void {
  if (!anyOf.some((scope) => key.scopes.includes(scope)))
    throw new AppError('missing_scope', `This needs a key with the scope ${anyOf.join(' or ')}`)
}

/** For verbs that the operator may call too. */
export function requireActorScope(actor: Actor, scope: Scope): void {
  if (actor.kind === 'key') requireScope(actor.key, scope)
}
