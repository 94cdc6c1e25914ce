import { allowsWord, findStyleRule } from './style-rules.ts'
import { readStyleValue, writeWords } from './style-values.ts'

const declarationsMax = 60
const styleLengthMax = 4_000

export type CleanStyle = { style: string; removed: string[] }

/**
 * An inline style of which every declaration is known and its value understood. Written anew from what was
 * understood, without `!important`, so that the page keeps the last word.
 */
export function cleanStyle(dirty: string): CleanStyle {
  const removed: string[] = []
  if (dirty.length > styleLengthMax)
    return { style: '', removed: [`longer than ${styleLengthMax} characters`] }
  const declarations = dirty.split(';')
  if (declarations.length > declarationsMax) removed.push(`more than ${declarationsMax} declarations`)
  const kept = declarations.slice(0, declarationsMax).flatMap((declaration) => {
    if (declaration.trim() === '') return []
    const colon = declaration.indexOf(':')
    const property = declaration.slice(0, Math.max(0, colon)).trim().toLowerCase()
    const value = cleanValue(property, declaration.slice(colon + 1))
    if (value !== undefined) return [`${property}:${value}`]
    removed.push(/^[a-z-]{1,40}$/.test(property) ? property : 'what is no declaration')
    return []
  })
  return { style: kept.join(';'), removed }
}

function cleanValue(property: string, written: string): string | undefined {
  const rule = findStyleRule(property)
  if (rule === undefined) return undefined
  const words = readStyleValue(written.replace(/!\s*important\s*$/i, '').trim())
  if (words === undefined || !words.every((word) => allowsWord(rule, word))) return undefined
  const value = writeWords(words)
  return property === 'font-size' ? value.replace(/(\d)em\b/g, '$1rem') : value
}

/** Whether an element of this style is seen without any text in it. */
export function paints(style: string): boolean {
  return /(?:^|;)(?:background(?:-color|-image)?|border(?:-\w+)?|box-shadow|outline):(?!(?:none|transparent|0)(?:;|$))/.test(
    style,
  )
}
