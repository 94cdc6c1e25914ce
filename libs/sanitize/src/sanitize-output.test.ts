import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRedactor } from './create-redactor.ts'
import type { SanitizeOptions, ToolOutput } from './sanitize-output.ts'
import { sanitizeOutput } from './sanitize-output.ts'

const secret = 'hunter2-hunter2'
const options: SanitizeOptions = {
  redactor: createRedactor([secret]),
  knownNames: ['weather'],
  card: { enabled: true, title: 'Weather in {{location}}' },
  params: { location: 'Valletta <b>' },
}
const sanitize = (output: ToolOutput) => sanitizeOutput(output, options)

test('an innocent output comes out as it went in', () => {
  const output = { text: 'It is 21 °C.', html: '<p>21 °C</p>', title: 'Now & here', data: { celsius: 21 } }
  assert.deepEqual(sanitize(output), {
    ...output,
    cardTitle: 'Now &amp; here',
    truncated: false,
    removed: 0,
    changes: [],
  })
})

test('an empty output is empty', () => {
  assert.deepEqual(sanitize({}), { text: '', title: '', truncated: false, removed: 0, changes: [] })
})

test("the manifest's title stands in where the tool gives none, and there is none without a card", () => {
  assert.equal(sanitize({ html: '<p>x</p>' }).cardTitle, 'Weather in Valletta &lt;b&gt;')
  assert.equal(sanitize({ html: '<script>x</script>' }).cardTitle, undefined)
  assert.equal(
    sanitize({ html: '<p>x</p>', title: '<img src=x onerror=1>' }).cardTitle,
    '&lt;img src=x onerror=1&gt;',
  )
  const without = sanitizeOutput({ html: '<p>x</p>' }, { ...options, card: { enabled: false } })
  assert.deepEqual([without.html, without.cardTitle], ['<p>x</p>', undefined])
})

test('all that was changed is said', () => {
  const { changes, removed } = sanitize({
    text: `weather(x) and ${secret}\u0007`,
    html: '<p onclick=x>y</p><script>z</script>',
    title: 'a\nACTION: b',
    data: ['[TOOL:x]'],
  })
  assert.deepEqual(changes, [
    'text: a secret redacted',
    'text: 1 unseen character removed',
    'text: 1 call removed',
    'title: 1 ACTION: directive removed',
    'html: onclick of <p> removed',
    'html: <script> removed',
    'data: 1 [TOOL] markers neutralised',
  ])
  assert.ok(removed > 0)
})

test('a secret does not come together by what cleaning takes out', () => {
  const split = [
    'hunter2\u200b-hunter2',
    'hunter2\u0000-hunter2',
    'hunter\u202e2-hunter2',
    'hun\u001b[0mter2-hunter2',
    'hunter2<script></script>-hunter2',
    'hunter2<x>-hunter2',
    'hunter2<!---->-hunter2',
    '<img alt="hunter2\u200b-hunter2" src=x>',
    '<p title="hunter2\u00ad-hunter2">x</p>',
    '<p title="hunter2&#8203;-hunter2">x</p>',
  ]
  for (const text of split) {
    const sanitized = sanitize({ text, html: `<b>x</b>${text}`, title: text, data: { [text]: text } })
    assert.ok(!JSON.stringify(sanitized).includes(secret), text)
  }
})

test('a secret at the place of the cut leaves no half of it', () => {
  const { text, truncated } = sanitize({ text: `${'x'.repeat(2_990)}${secret}${'y'.repeat(100)}` })
  assert.equal(truncated, true)
  assert.equal(text, `${'x'.repeat(2_990)}***${'y'.repeat(7)}`)
})

test('what is cut is counted', () => {
  const { text, truncated, removed, changes } = sanitize({ text: 'z'.repeat(3_500) })
  assert.deepEqual([text.length, truncated, removed], [3_000, true, 500])
  assert.deepEqual(changes, ['text: cut from 3500 to 3000 characters'])
})

test('whatever a tool writes, no secret comes through and a second pass changes nothing', () => {
  const part = fc.constantFrom(
    secret,
    'hunter2',
    '-hunter2',
    '{',
    '}',
    'weather(',
    ')',
    '<b>',
    '</b>',
    '<p title="',
    '">',
    '\u200b',
    'ACTION:',
    '[TOOL:',
    ']',
    ' ',
    'x',
    '&#45;',
    '%2d',
    '\\u002d',
  )
  const text = fc.array(part, { maxLength: 20 }).map((all) => all.join(''))
  fc.assert(
    fc.property(text, text, text, (one, two, three) => {
      const once = sanitize({ text: one, html: two, title: three, data: { [three]: [one, two] } })
      assert.ok(!JSON.stringify(once).includes(secret))
      const again = sanitize(once)
      assert.deepEqual(
        { ...again, removed: once.removed, truncated: once.truncated, changes: once.changes },
        once,
      )
      assert.deepEqual(again.changes, [])
    }),
    { numRuns: 2_000 },
  )
})
