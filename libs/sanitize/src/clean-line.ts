import type { CleanText, CleanTextOptions } from './clean-text.ts'
import { cleanText } from './clean-text.ts'

/** One line of clean text, for titles and for the messages of failures. */
export function cleanLine(dirty: string, options: CleanTextOptions & { maxChars: number }): CleanText {
  const whole = cleanText(dirty, { ...options, maxChars: Number.MAX_SAFE_INTEGER })
  // Joining lines may complete a pattern that reached across them, so the line is looked at again.
  const line = cleanText(whole.text.replace(/\s+/g, ' '), options)
  return { ...line, removed: dirty.length - line.text.length, changes: [...whole.changes, ...line.changes] }
}
