import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearestWord } from './nearest-word.ts'

const words = ['up', 'down', 'status', 'dev', 'test', 'verify', 'logs', 'key', 'migrate', 'bench']

test('a slip of the finger finds the word that was meant', () => {
  const slips = {
    sttus: 'status',
    upp: 'up',
    tests: 'test',
    log: 'logs',
    keys: 'key',
    benhc: 'bench',
    verfy: 'verify',
  }
  for (const [typed, meant] of Object.entries(slips)) assert.equal(nearestWord(typed, words), meant, typed)
})

test('the beginning of a word finds it', () => {
  assert.equal(nearestWord('mig', words), 'migrate')
})

test('a word that is like none gets no guess', () => {
  for (const typed of ['restart', 'x', 'kubernetes', '--detach'])
    assert.equal(nearestWord(typed, words), undefined, typed)
})
