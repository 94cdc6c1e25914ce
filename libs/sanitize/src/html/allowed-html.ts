// What may stand in a card. Everything else goes: the tag always, its text only where the text is no text (scripts,
// style sheets, fallbacks that nobody would have seen).

export const allowedTags: readonly string[] = [
  'a',
  'abbr',
  'address',
  'article',
  'aside',
  'b',
  'bdi',
  'blockquote',
  'br',
  'caption',
  'cite',
  'code',
  'col',
  'colgroup',
  'dd',
  'del',
  'details',
  'dfn',
  'div',
  'dl',
  'dt',
  'em',
  'figcaption',
  'figure',
  'footer',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'header',
  'hr',
  'i',
  'img',
  'ins',
  'kbd',
  'li',
  'main',
  'mark',
  'meter',
  'nav',
  'ol',
  'p',
  'pre',
  'progress',
  'q',
  's',
  'samp',
  'section',
  'small',
  'span',
  'strong',
  'sub',
  'summary',
  'sup',
  'table',
  'tbody',
  'td',
  'tfoot',
  'th',
  'thead',
  'time',
  'tr',
  'u',
  'ul',
  'var',
  'wbr',
]

export const tagsWithoutText: readonly string[] = [
  'script',
  'style',
  'textarea',
  'option',
  'xmp',
  'iframe',
  'noembed',
  'noframes',
  'title',
  'template',
  'plaintext',
]

const words =
  (...all: string[]) =>
  (value: string) =>
    all.includes(value.toLowerCase())
const number = (min: number, max: number) => (value: string) =>
  /^-?\d{1,9}(?:\.\d{1,6})?$/.test(value) && Number(value) >= min && Number(value) <= max
const integer = (min: number, max: number) => (value: string) =>
  /^\d{1,4}$/.test(value) && number(min, max)(value)
const textUpTo = (max: number) => (value: string) => value.length > 0 && value.length <= max
const amount = number(-1e9, 1e9)

type Check = (value: string) => boolean

const everywhere: Record<string, Check> = {
  title: textUpTo(300),
  lang: (value) => /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,3}$/.test(value),
  dir: words('ltr', 'rtl', 'auto'),
  'aria-label': textUpTo(300),
}

const cell: Record<string, Check> = {
  colspan: integer(1, 100),
  rowspan: integer(1, 100),
  scope: words('row', 'col', 'rowgroup', 'colgroup'),
}

const byTag: Record<string, Record<string, Check>> = {
  img: { alt: textUpTo(300), width: integer(1, 2_000), height: integer(1, 2_000) },
  td: cell,
  th: cell,
  col: { span: integer(1, 100) },
  colgroup: { span: integer(1, 100) },
  ol: { start: integer(0, 9_999), type: (value) => /^[1aAiI]$/.test(value) },
  li: { value: integer(0, 9_999) },
  time: { datetime: (value) => /^[\dTZ:.+\- PYMWDHS]{1,40}$/.test(value) },
  progress: { value: amount, max: amount },
  meter: { value: amount, min: amount, max: amount, low: amount, high: amount, optimum: amount },
}

/** `style`, `href` and `src` have rules of their own. */
export function allowsAttribute(tag: string, name: string, value: string): boolean {
  const checks = byTag[tag]
  if (checks !== undefined && Object.hasOwn(checks, name)) return checks[name]?.(value) ?? false
  return Object.hasOwn(everywhere, name) && (everywhere[name]?.(value) ?? false)
}

/** For the library, which goes over the same ground once more. */
export const allowedAttributes: Record<string, string[]> = {
  '*': [...Object.keys(everywhere), 'style'],
  ...Object.fromEntries(Object.entries(byTag).map(([tag, checks]) => [tag, Object.keys(checks)])),
  a: ['href', 'rel', 'target'],
  img: ['src', ...Object.keys(byTag['img'] ?? {})],
}
