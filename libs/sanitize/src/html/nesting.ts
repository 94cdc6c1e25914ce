// How HTML's own parser nests what may stand in a card: which elements close others, and what a table holds. Written
// so, a fragment means the same to every parser, and a browser that parses it builds exactly the tree that was checked.

const set = (names: string) => new Set(names.split(' '))

export const voidTags = set('br col hr img wbr')
export const headings = set('h1 h2 h3 h4 h5 h6')
/** They close an open paragraph. */
export const blocks = set(
  'address article aside blockquote dd details div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table ul',
)
/** Where a table holds only its own parts. */
export const tableContexts = set('table thead tbody tfoot tr colgroup')
export const tableParts = set('caption colgroup col thead tbody tfoot tr td th')
/** An open paragraph beyond them is none of the content's business. */
const paragraphBounds = set('table caption td th')
/** Beyond them a list item does not look for the item before it. */
const itemBounds = set(
  'article aside blockquote caption details dl dd dt figcaption figure footer h1 h2 h3 h4 h5 h6 header li main nav ol pre section summary table tbody td tfoot th thead tr ul',
)

/** How many open elements remain when an open paragraph is closed; all of them where there is none. */
export function closeParagraph(open: readonly string[]): number {
  for (let at = open.length - 1; at >= 0; at--) {
    const name = open[at] ?? ''
    if (name === 'p') return at
    if (paragraphBounds.has(name)) break
  }
  return open.length
}

/** The same for the item before: `li`, or `dt` and `dd`. */
export function closeItem(open: readonly string[], tag: string): number {
  const items = tag === 'li' ? ['li'] : ['dd', 'dt']
  for (let at = open.length - 1; at >= 0; at--) {
    const name = open[at] ?? ''
    if (items.includes(name)) return at
    if (itemBounds.has(name)) break
  }
  return open.length
}

const parents: Record<string, readonly string[]> = {
  col: ['colgroup', 'table'],
  tr: ['thead', 'tbody', 'tfoot', 'table'],
  td: ['tr', 'thead', 'tbody', 'tfoot', 'table'],
  th: ['tr', 'thead', 'tbody', 'tfoot', 'table'],
}

/** How many open elements remain for a part of a table, `undefined` outside of any. */
export function closeForTablePart(open: readonly string[], part: string): number | undefined {
  const at = open.findLastIndex((name) => (parents[part] ?? ['table']).includes(name))
  return at < 0 ? undefined : at + 1
}

/** What stands, though unwritten, between a table's element and what it is to hold. */
export function impliedIn(parent: string, child: string): readonly string[] {
  if (child === 'col') return parent === 'table' ? ['colgroup'] : []
  if (child === 'tr') return parent === 'table' ? ['tbody'] : []
  if (tableParts.has(child) && child !== 'td' && child !== 'th') return []
  const cell = child === 'td' || child === 'th' ? [] : ['td']
  if (parent === 'tr') return cell
  return parent === 'table' ? ['tbody', 'tr', ...cell] : ['tr', ...cell]
}
