import { z } from 'zod'
import { shorten } from './faults.ts'
import { nearestWord } from './nearest-word.ts'

/**
 * An object that takes the named keys and, as an author's own, keys beginning `x-`, which are dropped. Anything else
 * is a fault at that key: an option that is misspelled and ignored is worse than one that is refused.
 */
export function closed<S extends z.core.$ZodLooseShape>(shape: S) {
  const known = Object.keys(shape)
  // zod skips a check of a value that has other faults, unless the check says when it runs; these are told together.
  const unknownKeys = z.core._check<Record<string, unknown>>(({ value, issues }) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    for (const key of Object.keys(value)) {
      if (known.includes(key) || key.startsWith('x-')) continue
      issues.push({ code: 'custom', input: undefined, path: [key], message: describeUnknown(key, known) })
    }
  })
  unknownKeys._zod.def.when = () => true
  return z
    .looseObject(shape)
    .check(unknownKeys)
    .meta({ additionalProperties: false, patternProperties: { '^x-': {} } })
    .transform((value) => {
      const kept = known.flatMap((key) => (Object.hasOwn(value, key) ? [[key, value[key]]] : []))
      // safe because the shape has parsed each of its keys, and no other key is kept
      return Object.fromEntries(kept) as z.output<z.ZodObject<S>>
    })
}

function describeUnknown(key: string, known: readonly string[]): string {
  const meant = nearestWord(key, known)
  const mend = meant === undefined ? 'remove it, or begin it with "x-"' : `did you mean "${meant}"?`
  return `"${shorten(key, 64)}" is not known here: ${mend}`
}
