import { stripCharacters } from '../text/strip-characters.ts'
import { paints } from './clean-style.ts'
import {
  blocks,
  closeForTablePart,
  closeItem,
  closeParagraph,
  headings,
  impliedIn,
  tableContexts,
  tableParts,
  voidTags,
} from './nesting.ts'

// The second pass over a fragment. The library that filters it parses less strictly than a browser, so its output,
// though of allowed parts, might be nested otherwise when it is parsed again. Here each element is put where HTML's
// own parser would put it, and everything is written as HTML's own serializer writes it.

export type NestedHtml = { html: string; isVisible: boolean }

/** Deeper elements are dropped, their content is kept. Browsers stop at 512. */
const depthMax = 100
// Written by the library, which escapes `<` and `>` everywhere else.
const token = /<(\/?)([a-z][a-z0-9]*)([^<>]*)>|[^<]+/g
const visibleTags = new Set(['img', 'hr', 'progress', 'meter'])

type Nest = {
  out: string[]
  open: string[]
  /** For each element of the input that is open: the place of its own in `open`, -1 for none. */
  written: number[]
  isVisible: boolean
  isAfterPre: boolean
}

export function nestHtml(html: string): NestedHtml {
  const nest: Nest = { out: [], open: [], written: [], isVisible: false, isAfterPre: false }
  for (const [whole, slash, tag, attributes = ''] of html.matchAll(token)) {
    if (tag === undefined) writeText(nest, whole)
    else if (slash === '/') closeElement(nest)
    else openElement(nest, tag, attributes)
  }
  closeTo(nest, 0)
  return { html: nest.out.join(''), isVisible: nest.isVisible }
}

function openElement(nest: Nest, tag: string, attributes: string): void {
  const written = writeElement(nest, tag, attributes)
  if (!voidTags.has(tag)) nest.written.push(written ? nest.open.length - 1 : -1)
}

function closeElement(nest: Nest): void {
  const place = nest.written.pop() ?? -1
  if (place >= 0 && place < nest.open.length) closeTo(nest, place)
}

function writeElement(nest: Nest, tag: string, attributes: string): boolean {
  if (tag === 'a' && (nest.open.includes('a') || !/\shref="/.test(attributes))) return false
  if (tag === 'img' && !/\ssrc="/.test(attributes)) {
    const alt = /\salt="([^"]*)"/.exec(attributes)?.[1]
    if (alt !== undefined) writeText(nest, alt.replaceAll('&quot;', '"'))
    return false
  }
  if (nest.open.length >= depthMax || !makeRoom(nest, tag)) return false
  pushTag(nest, tag, canonical(attributes))
  if (visibleTags.has(tag) || paints(/\sstyle="([^"]*)"/.exec(attributes)?.[1] ?? '')) nest.isVisible = true
  return true
}

/** Closes what the element closes and opens what it implies; `false` where it has no place. */
function makeRoom(nest: Nest, tag: string): boolean {
  if (tableParts.has(tag)) {
    const remaining = closeForTablePart(nest.open, tag)
    if (remaining === undefined) return false
    closeTo(nest, remaining)
  } else {
    if (tag === 'li' || tag === 'dd' || tag === 'dt') closeTo(nest, closeItem(nest.open, tag))
    if (blocks.has(tag)) closeTo(nest, closeParagraph(nest.open))
    if (headings.has(tag) && headings.has(nest.open.at(-1) ?? '')) closeTo(nest, nest.open.length - 1)
  }
  openImplied(nest, tag)
  return true
}

function openImplied(nest: Nest, child: string): void {
  if (nest.open.at(-1) === 'colgroup' && child !== 'col') closeTo(nest, nest.open.length - 1)
  const parent = nest.open.at(-1) ?? ''
  if (!tableContexts.has(parent)) return
  for (const implied of impliedIn(parent, child)) pushTag(nest, implied, '')
}

function writeText(nest: Nest, written: string): void {
  let text = stripCharacters(written)
  if (nest.isAfterPre) text = text.replace(/^\n+/, '')
  if (text === '') return
  const isBlank = /^[ \t\n]*$/.test(text)
  if (!isBlank) openImplied(nest, '#text')
  if (text.trim() !== '') nest.isVisible = true
  nest.out.push(text.replaceAll('\u00a0', '&nbsp;'))
  nest.isAfterPre = false
}

function pushTag(nest: Nest, tag: string, attributes: string): void {
  nest.out.push(`<${tag}${attributes}>`)
  nest.isAfterPre = tag === 'pre'
  if (!voidTags.has(tag)) nest.open.push(tag)
}

function closeTo(nest: Nest, remaining: number): void {
  while (nest.open.length > remaining) {
    nest.out.push(`</${nest.open.pop() ?? ''}>`)
    nest.isAfterPre = false
  }
}

const canonical = (attributes: string) =>
  Array.from(attributes.matchAll(/([a-z-]+)(?:="([^"]*)")?/g), ([, name = '', value = '']) => {
    return ` ${name}="${value.replaceAll('\u00a0', '&nbsp;')}"`
  }).join('')
