// The words of a CSS value, read strictly. A value that holds anything else (an escape, a comment, an unknown
// function, a brace) is not understood, and what is not understood is not passed on.

export type StyleWord =
  | { kind: 'word'; text: string }
  | { kind: 'number'; value: number; unit: string; text: string }
  | { kind: 'color'; text: string }
  | { kind: 'string'; text: string }
  | { kind: 'mark'; text: ',' | '/' }
  | { kind: 'call'; name: string; words: readonly StyleWord[]; text: string }

const pattern =
  /\s*(?:(?<color>#[0-9a-f]{3,8}(?![\w-]))|(?<number>[-+]?(?:\d{1,7}(?:\.\d{1,8})?|\.\d{1,8}))(?<unit>%|[a-z]{1,5})?(?![\w-])|(?<call>[a-z][a-z-]{0,30})\(|(?<word>-?[a-z][a-z0-9-]{0,40})|(?<string>"[\w ,.-]{0,60}"|'[\w ,.-]{0,60}')|(?<mark>[,/])|(?<end>\)))/iy
const depthMax = 4

/** `undefined` where anything is not understood. */
export function readStyleValue(text: string): StyleWord[] | undefined {
  const reader = { text, at: 0 }
  const words = readWords(reader, 0)
  return words !== undefined && reader.at === text.length && words.length > 0 ? words : undefined
}

type Reader = { text: string; at: number }

function readWords(reader: Reader, depth: number): StyleWord[] | undefined {
  if (depth > depthMax) return undefined
  const words: StyleWord[] = []
  while (reader.text.slice(reader.at).trim() !== '') {
    pattern.lastIndex = reader.at
    const groups = pattern.exec(reader.text)?.groups
    if (groups === undefined) return undefined
    reader.at = pattern.lastIndex
    if (groups['end'] !== undefined) return depth > 0 ? words : undefined
    const word = groups['call'] === undefined ? readWord(groups) : readCall(reader, groups['call'], depth)
    if (word === undefined) return undefined
    words.push(word)
  }
  reader.at = reader.text.length
  return depth === 0 ? words : undefined
}

function readCall(reader: Reader, written: string, depth: number): StyleWord | undefined {
  const name = written.toLowerCase()
  const words = readWords(reader, depth + 1)
  if (words === undefined) return undefined
  return { kind: 'call', name, words, text: `${name}(${writeWords(words)})` }
}

function readWord(groups: Record<string, string | undefined>): StyleWord | undefined {
  const { color, number, unit = '', word, string, mark } = groups
  if (color !== undefined) return { kind: 'color', text: color.toLowerCase() }
  if (number !== undefined)
    return {
      kind: 'number',
      value: Number(number),
      unit: unit.toLowerCase(),
      text: number + unit.toLowerCase(),
    }
  if (word !== undefined) return { kind: 'word', text: word.toLowerCase() }
  if (string !== undefined) return { kind: 'string', text: `'${string.slice(1, -1)}'` }
  return mark === ',' || mark === '/' ? { kind: 'mark', text: mark } : undefined
}

export function writeWords(words: readonly StyleWord[]): string {
  return words.map((word, index) => (index === 0 || word.text === ',' ? word.text : ` ${word.text}`)).join('')
}
