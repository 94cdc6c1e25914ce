import { mayUseTool } from '@toolyard/access/key-bindings'
import type { Actor } from '@toolyard/access/actor'
import { unknownTool as words } from '@toolyard/contract/config-messages'
import { AppError } from '@toolyard/contract/errors'

/** What a key may not see does not exist for it. */
export function requireTool(actor: Actor, name: string): void {
  // No folder is called so, and the database could not even be asked.
  if (name.includes('\0') || !name.isWellFormed()) throw unknownTool(name)
  if (actor.kind === 'key' && !mayUseTool(actor.key, name)) throw unknownTool(name)
}

export function unknownTool(name: string): AppError {
  return new AppError('unknown_tool', words(name))
}
