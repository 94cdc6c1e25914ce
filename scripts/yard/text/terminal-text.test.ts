import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columns, indent, jsonLine, manyLines, oneLine, shorten } from './terminal-text.ts'

// Each would do something to a terminal, or to the eye of its reader.
const steering = [
  '\u001b[2J',
  '\u001b]0;title\u0007',
  '\u009b31m',
  '\r',
  '\b',
  '\u007f',
  '\u202e',
  '\u2066',
  '\u2028',
  '\u200b',
  '\ufeff',
  '\u{e0041}',
  '\ud800',
]
const unseen = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

test('nothing that steers a terminal or hides from the eye comes through', () => {
  for (const text of steering) {
    assert.doesNotMatch(oneLine(`a${text}b`), unseen)
    assert.doesNotMatch(manyLines(`a${text}b`), unseen)
    assert.doesNotMatch(indent(`a${text}b`), unseen)
    assert.doesNotMatch(jsonLine({ [text]: [text] }), unseen)
  }
  assert.equal(oneLine('a\u001b[31mb\r\nc\td'), 'a\\u{1b}[31mb\\r\\nc\\td')
})

test('lines and tabs stay where lines are shown, and the carriage return that overwrites one does not', () => {
  assert.equal(manyLines('one\r\n\ttwo\nfine\rgood'), 'one\n\ttwo\nfine\\rgood')
  assert.equal(indent('one\n\ntwo\n\n'), '  one\n\n  two')
})

test('what people write in their languages is left alone', () => {
  const text = 'grün 日本語 👩‍👩‍👧 می‌خواهم'
  assert.equal(oneLine(text), text)
})

test('JSON for programs says the same as JSON', () => {
  const value = { text: steering.join('x').toWellFormed(), 'a\u009bb': ['\u{e0041}'] }
  assert.deepEqual(JSON.parse(jsonLine(value)), value)
  assert.equal(jsonLine({ text: 'ü' }), '{"text":"ü"}')
})

test('columns line up by what is seen of them', () => {
  const rows = [
    ['\u001b[1mab\u001b[0m', 'x'],
    ['abcd', 'y'],
    ['👍', ''],
  ]
  assert.deepEqual(columns(rows), ['\u001b[1mab\u001b[0m    x', 'abcd  y', '👍'])
})

test('a text is cut between characters, and says so', () => {
  assert.equal(shorten('abc', 3), 'abc')
  assert.equal(shorten('👍👍👍', 2), '👍…')
})
