import { filler, foldText, isBlankOrBreak } from './fold.ts'

// `[TOOL:name]` and `[/TOOL]` frame a tool's text for the model, so a tool must not be able to write them. Their
// brackets become `‹ ›`, which frame nothing and take part in no other pattern. Width, case, and blanks between the
// letters make no difference: what a model may read as a marker is one.

const open = 0x5b
const close = 0x5d
const inertOpen = '‹'.charCodeAt(0)
const inertClose = '›'.charCodeAt(0)
const slash = 0x2f
const colon = 0x3a
const letters = Array.from('tool', (letter) => letter.charCodeAt(0))
// A bracket that closes further away belongs to something else.
const nameLengthMax = 100

export function neutraliseMarkers(text: string): { text: string; count: number } {
  if (!/[[\uff3b\u3010\u3014\u27e6\u301a]/.test(text)) return { text, count: 0 }
  const folded = foldText(text)
  const written = Buffer.from(text, 'utf16le')
  let count = 0
  for (let at = 0; at < folded.length; at++) {
    const end = folded[at] === open ? markerEnd(folded, at) : undefined
    if (end === undefined) continue
    count++
    written.writeUInt16LE(inertOpen, 2 * at)
    const closed = closingBracket(folded, end)
    if (closed !== undefined) written.writeUInt16LE(inertClose, 2 * closed)
    at = end - 1
  }
  return { text: count === 0 ? text : written.toString('utf16le'), count }
}

/**
 * Where the word of the marker ends. An opening one needs its `:` or `]`, because `[toolbox]` is innocent; of a
 * closing one `[/TOOL` is enough, because nothing innocent begins so.
 */
function markerEnd(folded: Uint8Array, bracket: number): number | undefined {
  let at = skipBlanks(folded, bracket + 1)
  const isClosing = folded[at] === slash
  if (isClosing) at = skipBlanks(folded, at + 1)
  for (const letter of letters) {
    if (folded[at] !== letter) return undefined
    at = skipBlanks(folded, at + 1)
  }
  return isClosing || folded[at] === colon || folded[at] === close ? at : undefined
}

function closingBracket(folded: Uint8Array, from: number): number | undefined {
  for (let at = from; at < folded.length && at < from + nameLengthMax; at++) {
    if (folded[at] === close) return at
    if (folded[at] === open || folded[at] === 0x0a) return undefined
  }
  return undefined
}

function skipBlanks(folded: Uint8Array, from: number): number {
  let at = from
  while (at < folded.length && (isBlankOrBreak(folded[at]) || folded[at] === filler)) at++
  return at
}
