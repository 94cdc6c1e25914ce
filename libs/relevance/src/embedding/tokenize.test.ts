import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTokenizer } from './tokenize.ts'
import type { Piece } from './tokenize.ts'

const reserved = Array.from({ length: 6 }, (_, i): Piece => [`<${i}>`, 0])
/** Their numbers begin at 6. */
const tokenizerOf = (...pieces: Piece[]) => createTokenizer([...reserved, ...pieces])

test('of all ways to cut a text the likeliest is taken, not the one with the longest pieces', () => {
  const letters = ['▁', 'a', 'b', 'c'].map((letter): Piece => [letter, -9])
  const tokenize = tokenizerOf(['▁ab', -1], ['▁a', -5], ['bc', -5], ['▁abc', -11], ...letters)
  assert.deepEqual(tokenize('abc'), [6, 13])
  assert.deepEqual(tokenize('ab aabc'), [6, 7, 11, 8])
})

test('what is not known stands once for many, and letters that only look different are the same', () => {
  const tokenize = tokenizerOf(['▁', -1], ['a', -1])
  assert.deepEqual(tokenize('a😀日本a'), [6, 7, 0, 7])
  assert.deepEqual(tokenize('ａ'), [6, 7])
  assert.deepEqual(tokenize('\ud83d'), [6, 0])
})

test('an empty text has no pieces', () => {
  assert.deepEqual(tokenizerOf(['▁', -1])(''), [])
})
