import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FoundTool } from '@toolyard/contract/search'
import { createPaint } from '../text/paint.ts'
import { foundLines } from './search-tools.ts'

const paint = createPaint({}, {})

const found = (more: Partial<FoundTool> = {}): FoundTool => ({
  name: 'weather',
  description: 'The forecast for a city',
  category: null,
  status: 'system',
  trigger: { type: 'on_demand' },
  parameters: {},
  relevance: 0.913,
  memory: 1.1,
  final: 1.05,
  reason: 'fits, mostly by its meaning',
  ...more,
})

test('the best come first with their figures, and what is not as it should be before them', () => {
  const answer = { search_id: 'srch_1', nothing_fits: true, searched_by: 'words' as const, tools: [found()] }
  assert.deepEqual(foundLines(answer, paint, 30), [
    'Nothing fits well; the nearest are',
    'Found by words alone: there are no vectors yet',
    'TOOL     FINAL  RELEVANCE  MEMORY  WHY',
    'weather  1.05   0.91       1.10    fits, mostly by its meaning',
    '  The forecast for a city',
  ])
})

test('every number is told that was asked for, and a key that may not see some is told without them', () => {
  const numbers = {
    score: 0.6,
    semantic: 0.5,
    lexical: 0.1,
    learned: 0.1,
    correction: 0.1,
    penalty: 0,
    exploration: 1.05,
  }
  const memory = { topic: 'trip', weight: 1.2, mean_weight: 1, recent: 0.9, attempts: 7 }
  const linesOf = (explain: FoundTool['explain']) =>
    foundLines(
      { search_id: 's', nothing_fits: false, searched_by: 'meaning and words', tools: [found({ explain })] },
      paint,
      80,
    ).slice(3)
  assert.deepEqual(linesOf({ ...numbers, memory }), [
    '  score 0.600 = 0.500 semantic + 0.100 lexical + 0.100 learned - 0.100 correction - 0.000 penalty',
    '  memory: 1.200 weight ÷ 1.000 mean × 0.900 recent, of 7 outcomes in trip; exploration 1.050',
  ])
  const [, bound] = linesOf({ ...numbers, memory: { topic: null, weight: 1.2, mean_weight: 1 } })
  assert.equal(bound, '  memory: 1.200 weight ÷ 1.000 mean × 1.000 recent, overall; exploration 1.050')
  assert.equal(linesOf({ ...numbers, memory: null })[1], '  memory: no outcomes; exploration 1.050')
})

test('a tool that speaks to the terminal is shown as text', () => {
  const evil = '\u001b[2J\u202e'
  const tools = [found({ name: evil, description: evil, reason: evil })]
  const lines = foundLines({ search_id: 's', nothing_fits: false, searched_by: 'words', tools }, paint, 80)
  for (const line of lines) assert.doesNotMatch(line, /[\p{Cc}\u202e]/u)
})
