import { cleanLine } from './clean-line.ts'
import { escapeHtml } from './escape-html.ts'
import type { Json } from './json.ts'

export type CardTitleOptions = { params: Readonly<Record<string, Json>>; knownNames: readonly string[] }

export const titleCharsMax = 200
const valueCharsMax = 100

/**
 * The title of the manifest with each `{{param}}` filled in: texts, numbers and booleans, anything else and anything
 * unknown as nothing. Filled once, so that a value cannot name another param. Escaped: it may stand in HTML as it is.
 */
export function fillCardTitle(template: string, { params, knownNames }: CardTitleOptions): string {
  const filled = template.replace(/\{\{\s{0,8}([\w-]{1,64})\s{0,8}\}\}/g, (_, name: string) => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined
    const isShown = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return isShown ? cleanLine(String(value), { knownNames, maxChars: valueCharsMax }).text : ''
  })
  return escapeHtml(cleanLine(filled, { knownNames, maxChars: titleCharsMax }).text)
}
