// No grapheme that people write is longer; one that is may be cut between two code points.
const graphemeLengthMax = 64

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** At most `max` UTF-16 units, whole graphemes, at the end nothing blank and no half of a `(s)` that would look like a call. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  let start = Math.max(0, max - graphemeLengthMax)
  if (isLowSurrogate(text, start)) start--
  let end = start
  for (const { index, segment } of graphemes.segment(text.slice(start, max + graphemeLengthMax))) {
    const next = start + index + segment.length
    if (next > max) break
    end = next
  }
  if (end === start) end = isLowSurrogate(text, max) ? max - 1 : max
  return text.slice(0, end).replace(/[\s\u200c\u200d]*(?:[(\uff08][s\uff53]?)?[\s\u200c\u200d]*$/i, '')
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}
