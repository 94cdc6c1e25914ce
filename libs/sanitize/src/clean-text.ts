import { cutText } from './text/cut-text.ts'
import { neutraliseMarkers } from './text/neutralise-markers.ts'
import { removePatterns } from './text/remove-patterns.ts'
import { stripCharacters } from './text/strip-characters.ts'

export type CleanTextOptions = {
  /** Of tools; those of the agent's skills are known anyway. */
  knownNames: readonly string[]
  /** UTF-16 units. */
  maxChars?: number
}

export type CleanText = {
  text: string
  /** How much shorter the text is than what came in, what was cut included. */
  removed: number
  truncated: boolean
  /** In words, for people. */
  changes: string[]
}

const textCharsMax = 3_000

/**
 * Text for the model. Idempotent and linear in the length: characters first, then patterns, then markers, whose signs
 * are part of no other pattern; every prefix of a clean text is clean.
 */
export function cleanText(dirty: string, options: CleanTextOptions): CleanText {
  const { knownNames, maxChars = textCharsMax } = options
  const stripped = stripCharacters(dirty)
  const { text: plain, removed } = removePatterns(stripped, knownNames)
  const marked = neutraliseMarkers(plain)
  const whole = marked.text.replace(/\n(?:[ \t]*\n){2,}/g, '\n\n').trim()
  const text = cutText(whole, maxChars)
  const truncated = text.length < whole.length
  const changes = [
    unseen(dirty, stripped),
    count(removed.groups, '{…} group', 'removed'),
    count(removed.calls, 'call', 'removed'),
    count(removed.directives, 'ACTION: directive', 'removed'),
    count(marked.count, '[TOOL] marker', 'neutralised'),
    truncated ? `cut from ${whole.length} to ${text.length} characters` : '',
  ].filter((change) => change !== '')
  return { text, removed: dirty.length - text.length, truncated, changes }
}

function unseen(dirty: string, stripped: string): string {
  if (dirty.length > stripped.length)
    return count(dirty.length - stripped.length, 'unseen character', 'removed')
  return dirty === stripped ? '' : 'broken characters or line breaks replaced'
}

function count(n: number, what: string, done: string): string {
  if (n === 0) return ''
  return `${n} ${what}${n === 1 ? '' : 's'} ${done}`
}
