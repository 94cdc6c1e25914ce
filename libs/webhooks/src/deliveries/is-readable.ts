import type { Actor } from '@toolyard/access/actor'
import { isOwned, ownerOf } from '../endpoints/webhook.ts'

/** The condition that a delivery is this actor's to see; its two values come from `readerOf`. */
export const isReadable = (owner: string, isOfCallbacks: string) =>
  `(${isOwned(owner)} and (not ${isOfCallbacks}::boolean or webhook_id is null))`

/** Who does not manage webhooks has the callbacks of its own calls. */
export function readerOf(actor: Actor): [owner: string | null, isOfCallbacks: boolean] {
  if (actor.kind === 'operator' || actor.key.scopes.includes('webhooks:manage'))
    return [ownerOf(actor), false]
  return [actor.key.id, true]
}
