const addressLengthMax = 2_048
// A picture of the size that the whole fragment may have would leave no room for the fragment.
const imageLengthMax = 90_000

/**
 * Where a link may lead: the web or a mailbox, spelt as a URL parser understands it, so that no other parser can
 * understand something else. Not what is relative (a tool does not know whose page its card is on), and not what
 * names a user: `https://bank.example@evil.example` is written to be misread.
 */
export function cleanLink(href: string): string | undefined {
  if (href.length > addressLengthMax || !/^\s*(?:https?:\/\/|mailto:)/i.test(href)) return undefined
  const url = URL.parse(href)
  if (url === null || !['http:', 'https:', 'mailto:'].includes(url.protocol)) return undefined
  if (url.username !== '' || url.password !== '') return undefined
  const clean = url.href.replaceAll("'", '%27')
  return clean.length <= addressLengthMax ? clean : undefined
}

/**
 * Pictures come along inside the fragment. A remote one would tell its server who reads the card, when and where, and
 * could be exchanged afterwards. SVG is not among them: it is a document, not a picture.
 */
export function cleanImage(src: string): string | undefined {
  if (src.length > imageLengthMax) return undefined
  const match = /^data:image\/(png|jpe?g|gif|webp);base64,([A-Za-z0-9+/]+={0,2})$/i.exec(src.trim())
  if (match === null) return undefined
  const type = (match[1] ?? '').toLowerCase().replace('jpg', 'jpeg')
  return `data:image/${type};base64,${match[2] ?? ''}`
}
