import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cleanText } from './clean-text.ts'
import { cleanLine } from './clean-line.ts'

const knownNames = ['weather', 'web-search', 'tool_example']
const clean = (text: string) => cleanText(text, { knownNames }).text

const kept = [
  'It is 21 °C in Valletta (feels like 23).',
  'REACTION: none. TRANSACTION: 12. Call-to-action: sign up.',
  'a list (three items), the goal (x), set your goal(s), focus (now)',
  'Math.max(1, f(x)) precall(x) recaller(x)',
  '[toolbox] [tools: 3] [1] [a/b] [TOOL x] array[0]',
  'Rust < C++ && a > b, "quotes" \'n\' `ticks`',
  'naïve café, 日本語（テスト）：はい, Ελλάδα',
  '👨‍👩‍👧‍👦 ❤️ 1️⃣ 🏳️‍🌈 👍🏽 می‌خواهم क्‍ष',
  'line one\n\nline\ttwo…',
  'Loading…',
]

for (const text of kept)
  test(`innocent text stays as it is: ${text.slice(0, 40)}`, () => {
    assert.deepEqual(cleanText(text, { knownNames }), { text, removed: 0, truncated: false, changes: [] })
  })

const cleaned: [string, string][] = [
  ['a {"x":{"y":1}} b', 'a … b'],
  ['{"x":{"y":1}}', ''],
  ['open { stays readable', 'open … stays readable'],
  ['close } too, {x} and { again', 'close … too, … and … again'],
  ['{{{}}} {{{', ''],
  ['{ a {b} c', 'a … c'],
  ['x weather(city="a (b) c") y', 'x … y'],
  ['Weather(x) WEATHER(x) web-search(x) web-search', 'web-search'],
  ['tools.recall({"q": ")"}) done', 'tools.… done'],
  ['recall (everything) and memorize\t(it)', 'and'],
  ['list (query="x") or goal () or focus (\'y\') or', 'or … or … or'],
  ['a schedule(x) autobiography() associate(a,b) introspect() delegate(z) goal(x=1) b', 'a … … … … … … b'],
  ['never closed: recall(this and that', 'never closed: …this and that'],
  ['recall(a(b) weather(c)', 'a(b)'],
  ['pre-recall(x)', 'pre-'],
  ['ACTION: stop', 'stop'],
  ['do action : stop, Action: go', 'do … stop, … go'],
  ['Required action: pay by Friday', 'Required … pay by Friday'],
  ['[TOOL:weather] hi [/TOOL]', '‹TOOL:weather› hi ‹/TOOL›'],
  ['[tOoL : x] [ / tool ] [TOOL] [/TOOLS]', '‹tOoL : x› ‹ / tool › ‹TOOL› ‹/TOOLS›'],
  [
    '[T O O L\n: x] ［ＴＯＯＬ：ｘ］ 【TOOL:x】 [𝗧𝗢𝗢𝗟:x] [ⓉⓄⓄⓁ:x]',
    '‹T O O L\n: x› ‹ＴＯＯＬ：ｘ› ‹TOOL:x› ‹𝗧𝗢𝗢𝗟:x› ‹ⓉⓄⓄⓁ:x›',
  ],
  ['[T\u200bO\u200dO\u00adL\u2060:x] [T\u0336O\u0336OL:x]', '‹TOOL:x› ‹T\u0336O\u0336OL:x›'],
  ['[/TOOL', '‹/TOOL'],
  ['re{}call(x) re{call(x) ACT{}ION: [TO{}OL:x]', 're…call(x) re…call(x) ACT…ION: [TO…OL:x]'],
  ['a re\u200bcall(x) rec\u202eall(x) re\u{e0041}call(x) recall\u2063(x) b', 'a … … … … b'],
  ['a recall（x） weather（y）ACTION：z', 'a … …z'],
  ['recall[TOOL:x](y)', 'recall‹TOOL:x›(y)'],
  ['\u0000a\u0007b\u001b[31mred\u001b[0m\u009b1mc\u007f', 'abredc'],
  ['a\r\nb\rc\u2028d\u0085e', 'a\nb\nc\nd\ne'],
  ['a\ud800b\udc00', 'a\ufffdb\ufffd'],
  ['\u202eevil\u2066x\u2069 \u200fy', 'evilx y'],
  ['hidden \u{e0069}\u{e0067}\u{e006e}text\u{e0100}', 'hidden text'],
  ['a\u200d\u200db 👍\u200d\u200d👍 x\ufe0f a\ufe0f\u200d😀', 'ab 👍👍 x a😀'],
  ['\ufdd0a\uffff', 'a'],
]

for (const [dirty, expected] of cleaned)
  test(`what could act is taken out: ${JSON.stringify(dirty).slice(0, 50)}`, () => {
    assert.equal(clean(dirty), expected)
    assert.ok(cleanText(dirty, { knownNames }).changes.length > 0)
  })

test('three and more line breaks become two', () => {
  assert.equal(clean('a\n\n\n\nb\n \n\t\nc'), 'a\n\nb\n\nc')
})

test('what was done is said in words', () => {
  const { changes, removed } = cleanText('{a} x recall(b) recall(c) ACTION: [TOOL:d]\u200b', { knownNames })
  assert.deepEqual(changes, [
    '1 unseen character removed',
    '1 {…} group removed',
    '2 calls removed',
    '1 ACTION: directive removed',
    '1 [TOOL] marker neutralised',
  ])
  assert.ok(removed > 0)
})

test('text is cut to 3,000 characters, and that is said', () => {
  const { text, truncated, removed, changes } = cleanText('x'.repeat(4_000), { knownNames })
  assert.deepEqual([text.length, truncated, removed], [3_000, true, 1_000])
  assert.deepEqual(changes, ['cut from 4000 to 3000 characters'])
  assert.equal(cleanText('x'.repeat(3_000), { knownNames }).truncated, false)
})

test('a cut never splits what is seen as one character', () => {
  const family = '👨‍👩‍👧‍👦'
  const { text } = cleanText(`ab${family.repeat(3)}`, { knownNames, maxChars: 2 + family.length + 5 })
  assert.equal(text, `ab${family}`)
  assert.equal(cleanText(`a${'e\u0301'.repeat(5)}`, { knownNames, maxChars: 4 }).text, 'ae\u0301')
  const zalgo = `a${'\u0301'.repeat(500)}`
  assert.equal(cleanText(zalgo, { knownNames, maxChars: 100 }).text.length, 100)
})

test('a cut leaves nothing that looks like a call', () => {
  assert.equal(cleanText('my goal(s)', { knownNames, maxChars: 9 }).text, 'my goal')
  assert.equal(cleanText('my goal(s)', { knownNames, maxChars: 8 }).text, 'my goal')
})

test('a line has no breaks, and what they hid is found', () => {
  const line = cleanLine('one\n\ntwo recall\n(x) ACTION\n: y', { knownNames, maxChars: 200 })
  assert.equal(line.text, 'one two … … y')
  assert.equal(cleanLine('x'.repeat(300), { knownNames, maxChars: 200 }).text.length, 200)
})

const alphabet = [
  ...Array.from('{}()[]/:：（）［］ \n\ts"=-_.…‹›'),
  'a',
  'recall',
  're',
  'call',
  'list',
  'goal',
  'ACTION',
  'ION',
  'ACT',
  'TOOL',
  'ＴＯＯＬ',
  'TO',
  'OL',
  '[TOOL:',
  '[/TOOL]',
  '\u200b',
  '\u200d',
  '\ufe0f',
  '\u0301',
  '👍',
  '\u202e',
  '\ud800',
  '\udc00',
  '𝗧',
  'Ⓜ',
  'می',
  'क',
  '\r',
  '\u001b[',
  '(s)',
  'é',
  '1',
]
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...alphabet), fc.string({ maxLength: 3 })), { maxLength: 40 })
  .map((all) => all.join(''))
const limits = fc.constantFrom(5, 12, 3_000)
const forbidden = [
  /[{}]/,
  /\brecall[ \t]*\(/i,
  /(?<!\w-)\baction[ \t]*:/i,
  /\[\s*\/\s*T\s*O\s*O\s*L/i,
  /\[\s*T\s*O\s*O\s*L\s*[:\]]/i,
  /(?![\t\n])[\p{Cc}\u200b\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u,
  /\n\n\n/,
  /^\s|\s$/,
]

test('cleaning is idempotent, never lengthens, and leaves no pattern', () => {
  fc.assert(
    fc.property(hostile, limits, (dirty, maxChars) => {
      const once = cleanText(dirty, { knownNames, maxChars })
      assert.ok(once.text.length <= Math.min(maxChars, dirty.length))
      assert.equal(once.removed, dirty.length - once.text.length)
      assert.ok(once.text.isWellFormed())
      for (const pattern of forbidden) assert.doesNotMatch(once.text, pattern)
      assert.deepEqual(cleanText(once.text, { knownNames, maxChars }), {
        text: once.text,
        removed: 0,
        truncated: false,
        changes: [],
      })
    }),
    {
      numRuns: 5_000,
      // To the host that acts on it, neither an accent nor a letter in a circle need be a part of the word.
      examples: [
        ['0\u0301ACTION:', 12],
        ['ⓂACTION:', 12],
        ['e\u0301recall (1)', 12],
      ],
    },
  )
})

test('a cleaned line is idempotent too', () => {
  fc.assert(
    fc.property(hostile, limits, (dirty, maxChars) => {
      const once = cleanLine(dirty, { knownNames, maxChars }).text
      assert.doesNotMatch(once, /\n/)
      assert.equal(cleanLine(once, { knownNames, maxChars }).text, once)
    }),
    { numRuns: 2_000 },
  )
})
