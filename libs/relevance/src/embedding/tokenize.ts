/** A piece of a word, and the logarithm of how likely it is. */
export type Piece = readonly [text: string, score: number]

type Node = { next: Map<string, Node>; id: number; score: number }

/** These stand first in the vocabulary and are no pieces of texts; the first of them is whatever is not known. */
const reservedCount = 6
const unknown = 0
const space = '\u2581'

/**
 * The likeliest pieces a text can be cut into, as SentencePiece does it for this model: numbers of the vocabulary. Also where
 * that is odd (what is not known costs nothing, and stands once for many), since the model was made so.
 */
export function createTokenizer(vocabulary: readonly Piece[]): (text: string) => number[] {
  const root = createTrie(vocabulary)
  return (text) => {
    const normal = text.normalize('NFKC').replaceAll(' ', space)
    const symbols = normal === '' ? [] : Array.from(space + normal)
    const best = new Float64Array(symbols.length + 1)
    const ids = new Int32Array(symbols.length + 1)
    const lengths = new Int32Array(symbols.length + 1).fill(1)
    const offer = (start: number, length: number, { id, score }: Pick<Node, 'id' | 'score'>): void => {
      const end = start + length
      const total = (best[start] ?? 0) + score
      if (best[end] !== 0 && total < (best[end] ?? 0)) return
      best[end] = total
      ids[end] = id
      lengths[end] = length
    }
    for (const start of symbols.keys()) {
      let isKnown = false
      let node = root.next.get(symbols[start] ?? '')
      for (let length = 1; node !== undefined; length += 1) {
        if (node.id !== unknown) {
          offer(start, length, node)
          isKnown = true
        }
        node = node.next.get(symbols[start + length] ?? '')
      }
      if (!isKnown) offer(start, 1, { id: unknown, score: 0 })
    }
    return trace(ids, lengths)
  }
}

function trace(ids: Int32Array, lengths: Int32Array): number[] {
  const found: number[] = []
  for (let end = ids.length - 1; end > 0; end -= lengths[end] ?? 1) {
    const id = ids[end] ?? unknown
    if (id !== unknown || found.at(-1) !== unknown) found.push(id)
  }
  return found.toReversed()
}

function createTrie(vocabulary: readonly Piece[]): Node {
  const root: Node = { next: new Map(), id: unknown, score: 0 }
  for (const [id, [text, score]] of vocabulary.entries()) {
    if (id < reservedCount) continue
    let node = root
    for (const symbol of text) {
      const next = node.next.get(symbol) ?? { next: new Map<string, Node>(), id: unknown, score: 0 }
      node.next.set(symbol, next)
      node = next
    }
    node.id = id
    node.score = score
  }
  return root
}
