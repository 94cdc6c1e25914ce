import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeFault } from './describe-fault.ts'

test('a fault is one line that says where and what', () => {
  assert.equal(
    describeFault('tools/foo', {
      file: 'manifest.json',
      pointer: '/parameters/x/type',
      line: 3,
      detail: 'must be one of string, integer',
    }),
    'tools/foo/manifest.json:3 /parameters/x/type: must be one of string, integer',
  )
  assert.equal(
    describeFault('tools/foo/', { file: 'manifest.json', line: 3, column: 7, detail: 'expected a colon' }),
    'tools/foo/manifest.json:3:7: expected a colon',
  )
  assert.equal(describeFault('tools/foo', { file: '.', pointer: '', detail: 'x' }), 'tools/foo: x')
})

test('what is written into names and texts stays one line of bounded length and steers no terminal', () => {
  const line = describeFault('tools/a\nb', {
    file: '\u001b[2J',
    detail: `\r\u0085\u2028\u202e\ud800${'x'.repeat(5_000)}`,
  })
  assert.ok(line.startsWith('tools/a\\u{a}b/\\u{1b}[2J: \\u{d}\\u{85}\\u{2028}\\u{202e}\\u{d800}xxx'))
  assert.ok(line.length < 1_100)
})
