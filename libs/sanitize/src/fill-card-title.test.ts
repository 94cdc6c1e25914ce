import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fillCardTitle } from './fill-card-title.ts'

const knownNames = ['weather']
const fill = (template: string, params: Record<string, string | number | boolean | null | string[]>) =>
  fillCardTitle(template, { params, knownNames })

const titles: [string, Parameters<typeof fill>[1], string][] = [
  ['Weather in {{location}}', { location: 'Valletta' }, 'Weather in Valletta'],
  ['{{ a }}/{{b}}/{{c-d}}', { a: 1, b: true, 'c-d': 'x' }, '1/true/x'],
  ['In {{nowhere}}!', {}, 'In !'],
  ['{{constructor}}{{__proto__}}{{toString}}', {}, ''],
  ['{{a}}', { a: ['x'] }, ''],
  ['{{a}} {{b}}', { a: '{{b}}', b: '<img src=x onerror=alert(1)>' }, '&lt;img src=x onerror=alert(1)&gt;'],
  ['{{a}}', { a: '"><script>' }, '&quot;&gt;&lt;script&gt;'],
  ['Tom & {{a}}', { a: "Jerry's" }, 'Tom &amp; Jerry&#39;s'],
  ['{{a}}', { a: 'a\n\u202eb [TOOL:x]\u0000' }, 'a b ‹TOOL:x›'],
  ['{{a}}{{b}}', { a: 'wea', b: 'ther(x) y' }, 'y'],
  ['broken {{a', { a: 'x' }, 'broken …a'],
]

for (const [template, params, expected] of titles)
  test(`a title is filled and escaped: ${template} ${JSON.stringify(params)}`, () => {
    assert.equal(fill(template, params), expected)
  })

test('a title is one line, bounded, and never markup', () => {
  assert.equal(fill('{{a}}', { a: 'x'.repeat(500) }).length, 100)
  assert.equal(fill('{{a}}{{a}}{{a}}', { a: 'x'.repeat(500) }).length, 200)
  fc.assert(
    fc.property(fc.string(), fc.string({ unit: 'binary' }), (template, value) => {
      assert.doesNotMatch(fill(`${template}{{a}}`, { a: value }), /[<>"'\n]|&(?!(?:amp|lt|gt|quot|#39);)/)
    }),
  )
})
