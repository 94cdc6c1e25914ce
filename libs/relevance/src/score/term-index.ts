import type { LexicalText } from '../text/tool-text.ts'
import { pairsOf } from '../text/tool-text.ts'
import type { Query } from './base-index.ts'
import type { Postings } from './lexical-index.ts'
import { countTerms, createPostings, idfOf, scoreAll, scoreOne } from './lexical-index.ts'

// The terms of the tools: of all that they say, of their names, and of neighbours.

/** How much a point of BM25 weighs against the cosine. Fitted together with the BM25 of `lexical-index.ts`. */
const lexicalWeight = 0.03
/** In points of BM25: a name of which every word is in the query, and a pair of terms that stands in both. */
const nameWeight = 3.3
const pairWeight = 0.33

type WeighedName = { terms: readonly (readonly [term: string, idf: number])[]; total: number }

export function createTermIndex() {
  const nameTerms = new Map<string, readonly string[]>()
  const terms = createPostings()
  const pairs = createPostings()
  let names: Map<string, WeighedName> | null = null

  return {
    set: (tool: string, text: LexicalText): void => {
      nameTerms.set(tool, text.nameTerms)
      terms.set(tool, countTerms(text.terms))
      pairs.set(tool, countTerms(text.pairs))
      names = null
    },
    remove: (tool: string): void => {
      nameTerms.delete(tool)
      terms.remove(tool)
      pairs.remove(tool)
      names = null
    },
    /** BM25 of every tool with a term of the query: what both of the next start from. */
    termScores: (query: Query): ReadonlyMap<string, number> => scoreAll(query.terms, terms),
    /** With names and pairs, in points of the fused score. */
    lexicalScores: (query: Query, plain: ReadonlyMap<string, number>): Map<string, number> => {
      const weighed = (names ??= weighNames(nameTerms, terms))
      const scores = new Map<string, number>()
      const near = scoreAll(pairsOf(query.terms), pairs)
      const asked = new Set(query.terms)
      for (const [name, score] of plain) {
        const covered = coverage(weighed.get(name), asked)
        scores.set(name, lexicalWeight * (score + nameWeight * covered + pairWeight * (near.get(name) ?? 0)))
      }
      return scores
    },
    /** What learned terms add to that: mostly nothing, less than that for texts that others' lessons made rarer. */
    learnedScores: (
      query: Query,
      overlay: Postings,
      plain: ReadonlyMap<string, number>,
    ): Map<string, number> => {
      const gains = new Map<string, number>()
      if (overlay.size() === 0) return gains
      for (const [name, score] of scoreAll(query.terms, terms, overlay))
        gains.set(name, lexicalWeight * (score - (plain.get(name) ?? 0)))
      return gains
    },
    /** The same of one tool. */
    learnedScore: (name: string, query: Query, overlay: Postings): number =>
      lexicalWeight * (scoreOne(name, query.terms, terms, overlay) - scoreOne(name, query.terms, terms)),
    /** The part of the query's terms, by weight, that the tool's text has. */
    coveredBy: (name: string, query: Query, overlay?: Postings): number => {
      const inText = (term: string) =>
        terms.frequencyOf(name, term) > 0 || (overlay?.frequencyOf(name, term) ?? 0) > 0
      const asked = [...new Set(query.terms)]
      const total = asked.reduce((sum, term) => sum + idfOf(term, terms), 0)
      const found = asked.filter(inText).reduce((sum, term) => sum + idfOf(term, terms), 0)
      return total === 0 ? 0 : found / total
    },
  }
}

/** The part of a name's terms, by weight, that the query has. */
function coverage(name: WeighedName | undefined, asked: ReadonlySet<string>): number {
  if (name === undefined || name.total === 0) return 0
  return name.terms.reduce((sum, [term, idf]) => (asked.has(term) ? sum + idf : sum), 0) / name.total
}

function weighNames(
  nameTerms: ReadonlyMap<string, readonly string[]>,
  terms: Postings,
): Map<string, WeighedName> {
  const weighed = new Map<string, WeighedName>()
  for (const [name, ofName] of nameTerms) {
    const own = ofName.map((term) => [term, idfOf(term, terms)] as const)
    weighed.set(name, { terms: own, total: own.reduce((sum, [, idf]) => sum + idf, 0) })
  }
  return weighed
}
