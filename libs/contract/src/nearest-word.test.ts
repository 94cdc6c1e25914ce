import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestWord } from './nearest-word.ts'

const words = ['name', 'description', 'parameters', 'timeout_seconds']

test('a slip of the finger, or a beginning, finds the word that was meant', () => {
  for (const [typed, meant] of Object.entries({
    descripton: 'description',
    nam: 'name',
    timeout: 'timeout_seconds',
    paramters: 'parameters',
  }))
    assert.equal(nearestWord(typed, words), meant, typed)
})

test('a word that is like none gets no guess, and one of a megabyte costs nothing', () => {
  for (const typed of ['x', 'kubernetes', '__proto__', 'n'.repeat(2 ** 20)])
    assert.equal(nearestWord(typed, words), undefined)
})
