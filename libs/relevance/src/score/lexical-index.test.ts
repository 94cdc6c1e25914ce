import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { countTerms, createPostings, scoreAll, scoreOne } from './lexical-index.ts'

test('BM25, worked out by hand', () => {
  const postings = createPostings()
  postings.set('a', countTerms(['rain', 'rain', 'city', 'wind']))
  postings.set('b', countTerms(['city', 'map']))
  // Of 2 documents 1 has "rain": idf ln(1 + 1.5/1.5); tf 2, length 4 of 3 on average:
  // 2 × 2.2 / (2 + 1.2 × (0.5 + 0.5 × 4/3)) = 1.2941
  const scores = scoreAll(['rain', 'rain', 'snow'], postings)
  assert.deepEqual([...scores.keys()], ['a'])
  assert.ok(Math.abs((scores.get('a') ?? 0) - Math.LN2 * 1.2941) < 1e-3)
})

test('what is laid over counts for that search only', () => {
  const postings = createPostings()
  postings.set('a', countTerms(['rain']))
  postings.set('b', countTerms(['map']))
  const overlay = createPostings()
  overlay.set('b', countTerms(['umbrella'], 0.5))
  assert.deepEqual([...scoreAll(['umbrella'], postings, overlay).keys()], ['b'])
  assert.equal(scoreAll(['umbrella'], postings).size, 0)
})

const term = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const change = fc.record({ id: fc.constantFrom('x', 'y', 'z'), terms: fc.option(fc.array(term)) })

test('an index that was changed document by document is the same as one built at once', () => {
  fc.assert(
    fc.property(fc.array(change), fc.array(term), (changes, query) => {
      const changed = createPostings()
      const documents = new Map<string, string[]>()
      for (const { id, terms } of changes) {
        if (terms === null) changed.remove(id)
        else changed.set(id, countTerms(terms))
        if (terms === null) documents.delete(id)
        else documents.set(id, terms)
      }
      const built = createPostings()
      for (const [id, terms] of documents) built.set(id, countTerms(terms))
      assert.deepEqual(new Map(scoreAll(query, changed)), new Map(scoreAll(query, built)))
      for (const id of documents.keys())
        assert.ok(Math.abs(scoreOne(id, query, changed) - (scoreAll(query, built).get(id) ?? 0)) < 1e-9)
    }),
  )
})
