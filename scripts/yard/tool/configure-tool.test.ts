import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configLines, readPairs } from './configure-tool.ts'
import { createPaint } from '../text/paint.ts'
import { UsageFault } from '../arguments/usage-fault.ts'

test('settings are read as pairs, whatever stands in their values', () => {
  const pairs = readPairs(['url=https://a/?b=c', 'empty=', 'token=-'])
  assert.deepEqual(
    [...pairs],
    [
      ['url', 'https://a/?b=c'],
      ['empty', ''],
      ['token', '-'],
    ],
  )
})

test('what is no pair is refused without a word of what it holds', () => {
  for (const words of [['hunter22'], ['=hunter22'], ['a=1', 'a=hunter22']]) {
    assert.throws(
      () => readPairs(words),
      (error: unknown) => error instanceof UsageFault && !error.message.includes('hunter22'),
    )
  }
})

test('the settings of a tool are shown with what is missing', () => {
  const config_schema = {
    token: { secret: true, required: true, description: 'From the account page' },
    city: { secret: false, required: false, default: 'Turin' },
    key: { secret: true, required: true },
  }
  const shown = configLines(
    { tool_name: 'greet', config_schema, config: { token: '***' } },
    createPaint({}, {}),
  )
  assert.deepEqual(shown, [
    'KEY    VALUE',
    'token  ***              required, secret',
    '  From the account page',
    'city   Turin (default)',
    'key    missing          required, secret',
  ])
})
