import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTool } from './fixtures/run-tool.ts'

test('matches are told with their places, their groups and what stands around', async (t) => {
  const tool = await openTool(t, 'text_search')
  const text = 'From 😀 {x} 2026-03-29\nto 2026-10-25 <b>'
  const found = await tool.succeed({ text, pattern: '(?<year>\\d{4})-(?<month>\\d\\d)', context: 5 })
  assert.equal(
    found.text,
    [
      '2 matches in 2 lines.',
      'Line 1, column 12: (x) »2026-03«-29 (year: 2026; month: 03)',
      'Line 2, column 4: to »2026-10«-25 < (year: 2026; month: 10)',
    ].join('\n'),
  )
  assert.deepEqual(found.data, {
    count: 2,
    is_counted: true,
    truncated: false,
    matches: [
      {
        match: '2026-03',
        is_cut: false,
        line: 1,
        column: 12,
        start: 11,
        end: 18,
        groups: ['2026', '03'],
        named: { year: '2026', month: '03' },
        before: ' {x} ',
        after: '-29\nt',
      },
      {
        match: '2026-10',
        is_cut: false,
        line: 2,
        column: 4,
        start: 25,
        end: 32,
        groups: ['2026', '10'],
        named: { year: '2026', month: '10' },
        before: '9\nto ',
        after: '-25 <',
      },
    ],
  })
})

test('plain words, capitals, empty matches and whole characters are found as one means them', async (t) => {
  const tool = await openTool(t, 'text_search')
  const countOf = async (params: Record<string, string | boolean>) =>
    (await tool.succeed(params)).text.split('\n')[0]
  assert.equal(await countOf({ text: 'a+b aab', pattern: 'a+b', literal: true }), '1 match in 1 line.')
  assert.equal(
    await countOf({ text: 'Error error', pattern: 'error', ignore_case: true }),
    '2 matches in 1 line.',
  )
  assert.equal(await countOf({ text: 'a\nb', pattern: 'a.b', dot_all: true }), '1 match in 2 lines.')
  assert.equal(await countOf({ text: 'x\ny', pattern: '^.$' }), '2 matches in 2 lines.')
  assert.equal(await countOf({ text: 'abc', pattern: 'x*' }), '4 matches in 1 line.')
  assert.equal(await countOf({ text: 'a😀b', pattern: '.' }), '3 matches in 1 line.')
  assert.equal(await countOf({ text: 'äb', pattern: '\\p{L}' }), '2 matches in 1 line.')
  assert.equal(await countOf({ text: 'a-b', pattern: '\\-' }), '1 match in 1 line.')
})

test('a pattern that backtracks for ever is run in linear time where it can be, and else stopped', async (t) => {
  const tool = await openTool(t, 'text_search')
  const text = `${'a'.repeat(50_000)}b`
  assert.equal((await tool.succeed({ text, pattern: '(a+)+$' })).text, '0 matches in 1 line.')
  const failure = await tool.fail({ text, pattern: '(a+)+$', ignore_case: true })
  assert.match(
    failure.message,
    /^The pattern took longer than 4 seconds: avoid repetitions within repetitions/,
  )
})

test('what is no pattern is refused, and a search in much text has an end', async (t) => {
  const tool = await openTool(t, 'text_search')
  assert.match((await tool.fail({ text: 'a', pattern: '((' })).message, /Unterminated group$/)
  assert.match((await tool.fail({ text: 'a', pattern: '' })).message, /empty/)
  const lines = await tool.succeed({ text: 'a\n'.repeat(1_300_000), pattern: 'a', limit: 500 })
  assert.match(lines.text, /^At least 100000 matches in 1300001 lines\./)
  const one = await tool.succeed({ text: 'ab'.repeat(1_900_000), pattern: '(a(b))+' })
  assert.match(one.text, /^1 match in 1 line\.\nLine 1, column 1: »(?:ab){100}…«/)
})
