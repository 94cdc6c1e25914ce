import { z } from 'zod'
import { printable } from './keys.ts'
import { unprintable } from './unprintable.ts'
import { walkJson } from './walk-json.ts'

// As `printable`, but for the ends of lines and tabs, which are written in longer texts.
const unprintableInProse = new RegExp(`(?![\\t\\n\\r])[${unprintable}]`, 'u')

/** A text of one line. */
export const line = (max: number) => printable.max(max)

/** A text that may have many lines. */
export const prose = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !unprintableInProse.test(text), 'control characters are not allowed')

/** Any JSON whose texts are such. */
export const jsonProse = z.json().refine((value) => isPrintable(value), 'control characters are not allowed')

function isPrintable(root: unknown): boolean {
  let printableSoFar = true
  walkJson(root, (value, { name }) => {
    printableSoFar &&= [value, name].every(
      (text) => typeof text !== 'string' || !unprintableInProse.test(text),
    )
    return printableSoFar ? 'enter' : 'stop'
  })
  return printableSoFar
}
