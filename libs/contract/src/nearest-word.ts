// Nobody mistypes a word of this length; what is longer would only cost time.
const typedMax = 64

/** The word that was probably meant: one edit away per three letters at most, or beginning as this one does. */
export function nearestWord(typed: string, words: readonly string[]): string | undefined {
  if (typed.length > typedMax) return undefined
  const most = Math.max(1, Math.ceil(typed.length / 3))
  const scored = words
    .filter((word) => word.startsWith(typed) || Math.abs(word.length - typed.length) <= most)
    .map((word) => ({ word, distance: word.startsWith(typed) ? 1 : editDistance(typed, word) }))
  const best = scored.toSorted((a, b) => a.distance - b.distance)[0]
  return best !== undefined && best.distance <= most ? best.word : undefined
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (const [index, letter] of a.split('').entries()) {
    const next = [index + 1]
    for (const [column, other] of b.split('').entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
