import { cleanData } from './clean-data.ts'
import { cleanHtml } from './clean-html.ts'
import { cleanLine } from './clean-line.ts'
import { cleanText } from './clean-text.ts'
import type { Redactor } from './create-redactor.ts'
import { escapeHtml } from './escape-html.ts'
import { fillCardTitle, titleCharsMax } from './fill-card-title.ts'
import type { Json } from './json.ts'

export type ToolOutput = { text?: string; html?: string; title?: string; data?: Json }

export type SanitizeOptions = {
  redactor: Pick<Redactor, 'redact' | 'redactJson'>
  /** Of all tools. */
  knownNames: readonly string[]
  /** Of the manifest. */
  card: { enabled: boolean; title?: string | undefined }
  params: Readonly<Record<string, Json>>
}

/** What is stored and answered (I7). */
export type SanitizedOutput = {
  text: string
  /** Plain text; empty where the tool gave none. */
  title: string
  /** The card's, escaped, where there is a card. */
  cardTitle?: string
  html?: string
  data?: Json
  /** Whether the text was cut. */
  truncated: boolean
  /** How many characters the text lost, those cut included. */
  removed: number
  /** All that was changed, in words: `text: 2 calls removed`. */
  changes: string[]
}

/**
 * Redacts, cleans, cuts. Cleaning may bring a secret to light that was split by what it takes out, so what it leaves
 * is redacted once more before it is cut.
 */
export function sanitizeOutput(output: ToolOutput, options: SanitizeOptions): SanitizedOutput {
  const changes: string[] = []
  const note = (part: string, all: readonly string[]) => changes.push(...all.map((one) => `${part}: ${one}`))
  const { text, truncated } = safeText(output.text ?? '', options, (all) => note('text', all))
  const title = safeTitle(output.title ?? '', options, (all) => note('title', all))
  const html = safeHtml(output.html ?? '', options, (all) => note('html', all))
  const data =
    output.data === undefined ? undefined : safeData(output.data, options, (all) => note('data', all))
  const removed = Math.max(0, (output.text ?? '').length - text.length)
  const whole: SanitizedOutput = { text, title, truncated, removed, changes }
  if (data !== undefined) whole.data = data
  if (html === undefined) return whole
  whole.html = html
  if (options.card.enabled) whole.cardTitle = title === '' ? manifestTitle(options) : escapeHtml(title)
  return whole
}

type Note = (changes: readonly string[]) => void

const uncut = Number.MAX_SAFE_INTEGER
const redactedWords = 'a secret redacted'

function safeText(dirty: string, { redactor, knownNames }: SanitizeOptions, note: Note) {
  const redacted = redactor.redact(dirty)
  const cleaned = cleanText(redacted, { knownNames, maxChars: uncut })
  const again = redactor.redact(cleaned.text)
  if (redacted !== dirty || again !== cleaned.text) note([redactedWords])
  const cut = cleanText(again, { knownNames })
  note([...cleaned.changes, ...cut.changes])
  return cut
}

function safeTitle(dirty: string, { redactor, knownNames }: SanitizeOptions, note: Note): string {
  const redacted = redactor.redact(dirty)
  const cleaned = cleanLine(redacted, { knownNames, maxChars: uncut })
  const again = redactor.redact(cleaned.text)
  if (redacted !== dirty || again !== cleaned.text) note([redactedWords])
  const cut = cleanLine(again, { knownNames, maxChars: titleCharsMax })
  note([...cleaned.changes, ...cut.changes])
  return cut.text
}

function safeHtml(dirty: string, { redactor }: SanitizeOptions, note: Note): string | undefined {
  if (dirty === '') return undefined
  const redacted = redactor.redact(dirty)
  const cleaned = cleanHtml(redacted)
  note([...(redacted === dirty ? [] : [redactedWords]), ...cleaned.removed.map((one) => `${one} removed`)])
  if (cleaned.html === undefined || redactor.redact(cleaned.html) === cleaned.html) return cleaned.html
  // A secret that only cleaning brought to light was hidden on purpose. What redacting leaves of the markup is
  // cleaned again; if a secret is still in it, there is no card.
  note([redactedWords])
  const again = cleanHtml(redactor.redact(cleaned.html)).html
  return again === undefined || redactor.redact(again) !== again ? undefined : again
}

function safeData(dirty: Json, { redactor }: SanitizeOptions, note: Note): Json | undefined {
  const redacted = redactor.redactJson(dirty)
  const cleaned = cleanData(redacted)
  note(cleaned.changes)
  return cleaned.data === undefined ? undefined : redactor.redactJson(cleaned.data)
}

function manifestTitle({ card, params, knownNames, redactor }: SanitizeOptions): string {
  return redactor.redact(fillCardTitle(redactor.redact(card.title ?? ''), { params, knownNames }))
}
