import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPaint } from './paint.ts'

test('there is colour on a terminal and nowhere else', () => {
  assert.equal(createPaint({ isTTY: true }, {}).bad('no'), '\u001b[31mno\u001b[0m')
  assert.equal(createPaint({ isTTY: true }, { NO_COLOR: '' }).good('yes'), '\u001b[32myes\u001b[0m')
  const plain = [
    createPaint({ isTTY: false }, {}),
    createPaint({}, {}),
    createPaint({ isTTY: true }, { NO_COLOR: '1' }),
    createPaint({ isTTY: true }, { TERM: 'dumb' }),
  ]
  for (const paint of plain) assert.equal(paint.bad(paint.strong('no')), 'no')
})
