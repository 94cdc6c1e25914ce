import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PromptShape } from '@toolyard/contract/prompts'
import { createPaint } from '../text/paint.ts'
import { promptLines } from './prompt-lines.ts'

const paint = createPaint({}, {})

const prompt: PromptShape = {
  id: 'prm_1',
  tool: 'reminders',
  invocation_id: 'inv_1',
  tick_at: '2031-05-05T08:00:00.000Z',
  priority: 'critical',
  prompt: 'Summarize:\n\n--- Tool Data ---\nthree are overdue',
  status: 'waiting',
  created_at: '2031-05-05T08:00:02.000Z',
  claims: 0,
  claimed_until: null,
}

test('a prompt is shown with whose it is, and with the claim once it is claimed', () => {
  assert.deepEqual(promptLines([prompt, { ...prompt, status: 'claimed', claim: 'c-1' }], paint), [
    'prm_1  reminders  critical  waiting  2031-05-05T08:00:00.000Z',
    '  Summarize:\n\n  --- Tool Data ---\n  three are overdue',
    'prm_1  reminders  critical  claimed  2031-05-05T08:00:00.000Z  claim c-1',
    '  Summarize:\n\n  --- Tool Data ---\n  three are overdue',
  ])
  assert.deepEqual(promptLines([], paint), ['There is no prompt'])
})

test('no text of a tool steers the terminal that shows its prompt', () => {
  const evil = '\u001b[2J\u202e\rgone'
  const shown = { ...prompt, id: evil, tool: evil, tick_at: evil, prompt: evil, claim: evil }
  for (const line of promptLines([shown], paint)) assert.doesNotMatch(line, /(?!\n)[\p{Cc}\u202e]/u)
})
