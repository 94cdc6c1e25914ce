// BM25 (k1 1.2, b 0.5), kept up to date document by document: nothing is rebuilt when one changes.

const k1 = 1.2
const b = 0.5

type Document = { frequencies: ReadonlyMap<string, number>; length: number }

/** Terms with their weights, by document. What is laid over an index counts for one search only, and is not part of it. */
export type Postings = ReturnType<typeof createPostings>

export function createPostings() {
  const documents = new Map<string, Document>()
  const byTerm = new Map<string, Map<string, number>>()
  let totalLength = 0

  const remove = (id: string): void => {
    const document = documents.get(id)
    if (document === undefined) return
    documents.delete(id)
    totalLength -= document.length
    for (const term of document.frequencies.keys()) {
      const holders = byTerm.get(term)
      holders?.delete(id)
      if (holders?.size === 0) byTerm.delete(term)
    }
  }

  const set = (id: string, frequencies: ReadonlyMap<string, number>): void => {
    remove(id)
    const length = [...frequencies.values()].reduce((sum, frequency) => sum + frequency, 0)
    documents.set(id, { frequencies, length })
    totalLength += length
    for (const [term, frequency] of frequencies) {
      const holders = byTerm.get(term) ?? new Map<string, number>()
      byTerm.set(term, holders.set(id, frequency))
    }
  }

  return {
    set,
    remove,
    size: () => documents.size,
    totalLength: () => totalLength,
    lengthOf: (id: string) => documents.get(id)?.length ?? 0,
    frequencyOf: (id: string, term: string) => documents.get(id)?.frequencies.get(term) ?? 0,
    holdersOf: (term: string): ReadonlyMap<string, number> => byTerm.get(term) ?? nobody,
  }
}

const nobody: ReadonlyMap<string, number> = new Map()

export function countTerms(terms: readonly string[], weight = 1): Map<string, number> {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + weight)
  return counts
}

/** BM25 of every document in which a term occurs, in itself or in what is laid over it. */
export function scoreAll(terms: readonly string[], base: Postings, overlay?: Postings): Map<string, number> {
  const scores = new Map<string, number>()
  const meanLength = meanLengthOf(base, overlay)
  const gain = (id: string, idf: number, frequency: number): void => {
    const length = base.lengthOf(id) + (overlay?.lengthOf(id) ?? 0)
    scores.set(id, (scores.get(id) ?? 0) + idf * saturate(frequency, length / meanLength))
  }
  for (const term of new Set(terms)) {
    const holders = base.holdersOf(term)
    const learned = overlay?.holdersOf(term) ?? nobody
    const idf = idfOf(term, base, overlay)
    for (const [id, frequency] of holders) gain(id, idf, frequency + (learned.get(id) ?? 0))
    for (const [id, frequency] of learned) if (!holders.has(id)) gain(id, idf, frequency)
  }
  return scores
}

/** The same of one document. */
export function scoreOne(id: string, terms: readonly string[], base: Postings, overlay?: Postings): number {
  const length = base.lengthOf(id) + (overlay?.lengthOf(id) ?? 0)
  const relativeLength = length / meanLengthOf(base, overlay)
  let score = 0
  for (const term of new Set(terms)) {
    const frequency = base.frequencyOf(id, term) + (overlay?.frequencyOf(id, term) ?? 0)
    if (frequency > 0) score += idfOf(term, base, overlay) * saturate(frequency, relativeLength)
  }
  return score
}

export function idfOf(term: string, base: Postings, overlay?: Postings): number {
  const holders = base.holdersOf(term)
  let count = holders.size
  for (const id of overlay?.holdersOf(term).keys() ?? []) if (!holders.has(id)) count += 1
  return Math.log(1 + (base.size() - count + 0.5) / (count + 0.5))
}

const meanLengthOf = (base: Postings, overlay: Postings | undefined): number =>
  (base.totalLength() + (overlay?.totalLength() ?? 0)) / Math.max(1, base.size())

const saturate = (frequency: number, relativeLength: number): number =>
  (frequency * (k1 + 1)) / (frequency + k1 * (1 - b + b * relativeLength))
