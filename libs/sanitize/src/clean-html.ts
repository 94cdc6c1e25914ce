import sanitizeHtml from 'sanitize-html'
import { allowedAttributes, allowedTags, allowsAttribute, tagsWithoutText } from './html/allowed-html.ts'
import { cleanImage, cleanLink } from './html/clean-address.ts'
import { cleanStyle } from './html/clean-style.ts'
import { voidTags } from './html/nesting.ts'
import { nestHtml } from './html/nest-html.ts'
import { stripCharacters } from './text/strip-characters.ts'

// A fragment for the card: parsed, filtered by lists of what is allowed, nested as a browser nests it. Idempotent,
// and a fixpoint of parsing and serializing, so that there is no second reading of it for an attack to live in.

export type CleanHtml = {
  /** Absent where nothing is left that could be seen. */
  html?: string
  /** What was taken out, in words, each once. */
  removed: string[]
}

/** Of what comes in and of what goes out. */
export const htmlBytesMax = 100_000
/** Of elements that are open at once: the parser's work grows with their number. */
const openMax = 256
const removedMax = 30

class TooDeep extends Error {}

export function cleanHtml(dirty: string): CleanHtml {
  if (Buffer.byteLength(dirty) > htmlBytesMax) return { removed: [`html: longer than ${htmlBytesMax} bytes`] }
  const removed = new Set<string>()
  const note = (what: string): void => {
    if (removed.size < removedMax) removed.add(what)
  }
  const input = stripCharacters(dirty)
  if (input !== dirty) note('unseen characters')
  const filtered = filter(input, note)
  if (filtered === undefined) return { removed: [...removed, `html: nested deeper than ${openMax}`] }
  const { html, isVisible } = nestHtml(filtered)
  if (!isVisible) return { removed: html === '' && dirty === '' ? [] : [...removed, 'html: nothing to see'] }
  if (Buffer.byteLength(html) > htmlBytesMax)
    return { removed: [...removed, `html: longer than ${htmlBytesMax} bytes`] }
  return { html, removed: [...removed] }
}

function filter(input: string, note: (what: string) => void): string | undefined {
  let open = 0
  try {
    return sanitizeHtml(input, {
      allowedTags: [...allowedTags],
      allowedAttributes,
      allowedSchemes: ['http', 'https', 'mailto'],
      allowedSchemesByTag: { img: ['data'] },
      allowProtocolRelative: false,
      disallowedTagsMode: 'discard',
      nonTextTags: [...tagsWithoutText],
      parseStyleAttributes: false,
      selfClosing: [...voidTags],
      onOpenTag: (tag) => {
        if (++open > openMax) throw new TooDeep()
        if (tagsWithoutText.includes(tag)) note(`<${tag}>`)
      },
      onCloseTag: () => {
        open--
      },
      transformTags: {
        '*': (tagName, attribs) => ({ tagName, attribs: cleanAttributes(tagName, attribs, note) }),
      },
    })
  } catch (error) {
    if (error instanceof TooDeep) return undefined
    throw error
  }
}

function cleanAttributes(
  tag: string,
  attributes: Record<string, string>,
  note: (what: string) => void,
): Record<string, string> {
  if (!allowedTags.includes(tag)) {
    note(/^[a-z][a-z0-9:-]{0,30}$/.test(tag) ? `<${tag}>` : 'an unknown element')
    return {}
  }
  const clean: Record<string, string> = {}
  for (const [name, written] of Object.entries(attributes)) {
    const value = cleanAttribute(tag, name, stripCharacters(written), note)
    if (value !== undefined) clean[name] = value
    else if (!isOurs(name))
      note(/^[a-z][a-z0-9:-]{0,30}$/.test(name) ? `${name} of <${tag}>` : 'an unknown attribute')
  }
  if (tag !== 'a' || clean['href'] === undefined) return clean
  return { ...clean, rel: 'noopener noreferrer nofollow', target: '_blank' }
}

// They are set anew on each link, so that losing them is not worth a word.
const isOurs = (name: string) => name === 'rel' || name === 'target'

function cleanAttribute(
  tag: string,
  name: string,
  value: string,
  note: (what: string) => void,
): string | undefined {
  if (name === 'href' && tag === 'a') return cleanLink(value)
  if (name === 'src' && tag === 'img') return cleanImage(value)
  if (name !== 'style') return allowsAttribute(tag, name, value) ? value : undefined
  const { style, removed } = cleanStyle(value)
  for (const property of removed) note(`style ${property}`)
  return style
}
