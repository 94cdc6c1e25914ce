import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { analyze, textCharsMax } from './analyze.ts'

test('camelCase, snake_case, dots and plain words come to the same terms', () => {
  const expected = ['html', 'content']
  for (const text of [
    'getHTMLContent',
    'get_html_content',
    'HTML.content',
    'html-contents',
    'the HTML contents',
  ])
    assert.deepEqual(analyze(text), expected, text)
})

test('words of asking and of grammar say nothing, numbers and other scripts do', () => {
  assert.deepEqual(analyze('Could you please give me the 10 best Cafés in 東京?'), [
    '10',
    'best',
    'cafe',
    '東京',
  ])
})

test('repetition is kept, and so is the order', () => {
  assert.deepEqual(analyze('weather, then news, then weather'), ['weather', 'new', 'weather'])
})

test('any text has terms without end or fault, bounded', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      for (const term of analyze(text)) assert.ok(term.length > 0 && !/\s/.test(term))
    }),
  )
  assert.ok(analyze('word '.repeat(100_000)).length <= textCharsMax / 4)
})
