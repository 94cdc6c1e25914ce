import type { Actor } from '@toolyard/access/actor'
import { reachOf } from '@toolyard/access/actor'
import { AppError } from '@toolyard/contract/errors'

/** The condition that a row of `invocations` is this actor's to see; its two values come from `bindingsOf`. */
export const isVisible = (topics: string, tools: string, row = 'invocations') =>
  `(${topics}::text[] is null or ${row}.topic = any(${topics}))
    and (${tools}::text[] is null or ${row}.tool = any(${tools}))`

export function bindingsOf(actor: Actor): [readonly string[] | null, readonly string[] | null] {
  const { topics, tools } = reachOf(actor)
  return [topics, tools]
}

/** The same for what does not exist and for what this key may not see. */
export const notFound = () => new AppError('not_found', 'There is no such invocation')

const idPattern = /^inv_[0-9a-hjkmnp-tv-z]{26}$/

/** Other text is never sent to the database, which could not even hold some of it. */
export const isInvocationId = (text: string) => idPattern.test(text)
