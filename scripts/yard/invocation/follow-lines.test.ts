import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPaint } from '../text/paint.ts'
import { createJsonReporter, createLineReporter } from './follow-lines.ts'

test('a person reads states as sentences and the tool as it writes, which cannot steer the terminal', () => {
  let text = ''
  const { reporter, endLine } = createLineReporter(
    'inv_1',
    { err: (piece) => void (text += piece) },
    createPaint({}, {}),
  )
  reporter.status({ status: 'queued', attempts: 0, waiting_for: 'no worker' })
  reporter.status({ status: 'running', attempts: 1 })
  reporter.stderr({ attempt: 1, text: '10 %' })
  reporter.stderr({ attempt: 1, text: ' 20 %\u001b[2J\n' })
  reporter.stderr({ attempt: 1, text: 'half a line', gap: true })
  reporter.status({ status: 'queued', attempts: 1 })
  reporter.status({ status: 'running', attempts: 2, cancel_requested: true })
  reporter.stderr({ attempt: 2, text: '', gap: true })
  reporter.lost(new Error('gone'))
  reporter.status({ status: 'cancelled', attempts: 2, cancel_requested: true })
  reporter.stderr({ attempt: 2, text: 'open' })
  endLine()
  assert.equal(
    text,
    [
      'inv_1 is queued, waiting for: no worker',
      'inv_1 is running, attempt 1',
      '10 % 20 %\\u{1b}[2J',
      '… something is missing here …',
      'half a line',
      'inv_1 waits for attempt 2',
      'inv_1 is running, attempt 2, and is being cancelled',
      '… something is missing here …',
      'The connection was lost; trying again',
      'inv_1 has ended: cancelled',
      'open',
      '',
    ].join('\n'),
  )
})

test('a program reads one object a line', () => {
  let text = ''
  const reporter = createJsonReporter({ out: (piece) => void (text += piece), err: () => {} })
  reporter.status({ status: 'running', attempts: 1 })
  reporter.stderr({ attempt: 1, text: 'a\nb\u009b' })
  assert.deepEqual(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
    [
      { event: 'status', status: 'running', attempts: 1 },
      { event: 'stderr', attempt: 1, text: 'a\nb\u009b' },
    ],
  )
  assert.doesNotMatch(text, /\u009b/)
})
