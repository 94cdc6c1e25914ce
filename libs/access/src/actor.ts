import type { AccessKey } from './access-key.ts'

/** Who asks: a verified key, or the person at the machine through `yard key`, whom nothing binds. */
export type Actor = { kind: 'key'; key: AccessKey } | { kind: 'operator' }

/** What an administrative verb must know of the request for its audit row. */
export type Call = { actor: Actor; requestId?: string | undefined }

/**
 * The part of the installation that an actor's administration extends to. A key is within reach when each of its
 * bindings is a subset of the actor's; an unbound key is within reach of unbound actors only.
 */
export type Reach = { topics: readonly string[] | null; tools: readonly string[] | null }

export function reachOf(actor: Actor): Reach {
  return actor.kind === 'operator'
    ? { topics: null, tools: null }
    : { topics: actor.key.topics, tools: actor.key.tools }
}

export function actorReference(actor: Actor): string {
  return actor.kind === 'operator' ? 'operator' : keyReference(actor.key.id)
}

export function actorName(actor: Actor): string {
  return actor.kind === 'operator' ? 'operator' : actor.key.name
}

export function keyReference(id: string): string {
  return `key:${id}`
}
