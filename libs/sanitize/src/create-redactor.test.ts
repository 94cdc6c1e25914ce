import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRedactor } from './create-redactor.ts'

const secret = 'p@ss "wörd"/<a&b>+c\\d\'\u{1f511}'
const redactor = createRedactor([secret, 'sk-live_0123456789abcdef', 'short', ''])
const bytes = Buffer.from(secret)

const escapeAll = (text: string, one: (unit: number) => string) =>
  text
    .split('')
    .map((unit) => one(unit.charCodeAt(0)))
    .join('')

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')

const spellings: Record<string, string> = {
  plain: secret,
  'percent-escaped': encodeURIComponent(secret),
  'percent-escaped, lower case': encodeURIComponent(secret).toLowerCase(),
  'percent-escaped as an address': encodeURI(secret),
  'every byte percent-escaped': [...bytes].map((byte) => `%${hex(byte, 2)}`).join(''),
  'as a form': new URLSearchParams([['a', secret]]).toString().slice(2),
  'JSON-escaped': JSON.stringify(secret).slice(1, -1),
  'JSON-escaped, slashes too': JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
  'JSON-escaped, all of it': escapeAll(secret, (unit) => `\\u${hex(unit, 4)}`),
  'JSON-escaped, all of it in upper case': escapeAll(secret, (unit) => `\\u${hex(unit, 4).toUpperCase()}`),
  'HTML-escaped': secret
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;'),
  'HTML-escaped otherwise': secret
    .replaceAll('&', '&#38;')
    .replaceAll('<', '&#x3C;')
    .replaceAll("'", '&apos;')
    .replaceAll('+', '&plus;')
    .replaceAll('/', '&#x2F;'),
  'HTML-escaped, all of it': Array.from(secret)
    .map((char) => `&#${char.codePointAt(0)};`)
    .join(''),
  'HTML-escaped, all of it without semicolons': Array.from(secret)
    .map((char) => `&#x${hex(char.codePointAt(0) ?? 0, 5)}`)
    .join('')
    .replaceAll('&#x00061&', '&#x00061;&'),
  hex: bytes.toString('hex'),
  'hex in upper case': bytes.toString('hex').toUpperCase(),
  base64: bytes.toString('base64'),
  'base64 without padding': bytes.toString('base64').replaceAll('=', ''),
  'base64 for addresses': bytes.toString('base64url'),
  'base64 in JSON': bytes.toString('base64').replaceAll('/', '\\/'),
  'base64 in an address': encodeURIComponent(bytes.toString('base64')),
  'base64 in lines': bytes.toString('base64').replace(/.{10}/g, '$&\n'),
  'base64 in lines in JSON': bytes.toString('base64').replace(/.{10}/g, '$&\\n'),
}

for (const [name, spelling] of Object.entries(spellings))
  test(`a secret is taken out: ${name}`, () => {
    assert.equal(redactor.redact(`before ${spelling} after`), 'before *** after'.replace('*** ', tail(name)))
  })

// The padding of base64 stands behind the bytes of the secret and tells nothing of it.
function tail(name: string): string {
  if (!name.startsWith('base64')) return '*** '
  const padding = /=+$|(?:%3D)+$/.exec(spellings[name] ?? '')?.[0] ?? ''
  return `***${padding} `
}

test('a secret inside a longer base64 text is found wherever its groups lie', () => {
  for (const before of ['', 'a', 'ab', 'abc', 'abcd'])
    for (const encoding of ['base64', 'base64url'] as const)
      for (const glued of ['', 'x', 'xy', 'xyz']) {
        const text = glued + Buffer.from(`${before}${secret}zzzz`).toString(encoding)
        const redacted = redactor.redact(text)
        assert.match(redacted, /^\w{0,8}\*\*\*\w{2,}=*$/)
        assert.ok(!Buffer.from(redacted.slice(glued.length), 'base64').includes(bytes.subarray(2, -2)))
      }
})

test('a secret inside longer hex is found at odd places too', () => {
  assert.equal(redactor.redact(`abc${bytes.toString('hex')}12`), 'abc***12')
})

test('what is too short to be a secret stays, an empty one matches nothing', () => {
  assert.equal(redactor.redact('short stories'), 'short stories')
  assert.equal(createRedactor(['', '1234567']).redact('1234567'), '1234567')
  assert.equal(createRedactor(['12345678']).redact('12345678'), '***')
})

test('a secret that was stored with blanks around it is found without them', () => {
  assert.equal(createRedactor(['  hunter2hunter2\n']).redact('<hunter2hunter2>'), '<***>')
})

test('the longest secret wins, and overlapping ones leave nothing over', () => {
  const both = createRedactor(['abcdefgh', 'abcdefghijkl', 'ijklmnopqr'])
  assert.equal(both.redact('-abcdefghijkl-'), '-***-')
  assert.equal(both.redact('-abcdefghijklmnopqr-'), '-***-')
  assert.equal(both.redact('abcdefghabcdefgh'), '******')
})

test('text without a secret comes back as it was, lone surrogates and all', () => {
  const text = 'a \ud800 b %zz &amp \\u12 \\ %'
  assert.equal(redactor.redact(text), text)
})

test('redacting JSON reaches strings and keys at any depth and keeps all entries', () => {
  const redacted = redactor.redactJson(
    JSON.parse(
      `{"list":[1,true,null,${JSON.stringify(secret)}],"sk-live_0123456789abcdef":1,"x sk-live_0123456789abcdef":2,"__proto__":{"a":"sk-live_0123456789abcdef"}}`,
    ),
  )
  assert.equal(
    JSON.stringify(redacted),
    '{"list":[1,true,null,"***"],"***":1,"x ***":2,"__proto__":{"a":"***"}}',
  )
  assert.equal(Object.getPrototypeOf(redacted), Object.prototype)
})

test('keys that become equal keep their values', () => {
  const two = createRedactor(['aaaaaaaa', 'bbbbbbbb']).redactJson({ aaaaaaaa: 1, bbbbbbbb: 2, '*** (1)': 3 })
  assert.equal(Object.keys(two ?? {}).length, 3)
})

test('JSON that is nested without end is answered, not overflowed', () => {
  const nested = JSON.parse(`${'['.repeat(30_000)}"sk-live_0123456789abcdef"${']'.repeat(30_000)}`)
  assert.ok(!JSON.stringify(redactor.redactJson(nested)).includes('sk-live'))
})

const piece = fc.oneof(
  fc.constantFrom(
    ...Object.values(spellings),
    'sk-live_0123456789abcdef',
    'sk-live_',
    '%',
    '%4',
    '\\u00',
    '&#',
    '=',
    '\n',
  ),
  fc.string({ maxLength: 12 }),
)

test('a stream in chunks of any size gives what the whole text gives', () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (pieces, sizes) => {
        const whole = Buffer.from(pieces.join(''))
        const stream = redactor.stream()
        const out: Buffer[] = []
        for (let at = 0, turn = 0; at < whole.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1
          out.push(stream.push(whole.subarray(at, at + size)))
          at += size
        }
        out.push(stream.end())
        assert.equal(Buffer.concat(out).toString(), redactor.redact(whole.toString()))
      },
    ),
    { numRuns: 300 },
  )
})

test('no spelling of a secret survives in any surroundings', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme-ascii' }),
      fc.constantFrom(...Object.values(spellings)),
      fc.string({ unit: 'grapheme-ascii' }),
      (before, spelling, after) => {
        assert.ok(!redactor.redact(`${before} ${spelling} ${after}`).includes(spelling))
      },
    ),
    { numRuns: 300 },
  )
})

test('a stream holds back only what may still become a secret', () => {
  const stream = redactor.stream()
  assert.equal(
    stream.push(Buffer.from('all of this goes out at once. ')).toString(),
    'all of this goes out at once. ',
  )
  assert.equal(stream.push(Buffer.from('key: sk-live_0123')).toString(), 'key: ')
  assert.equal(stream.push(Buffer.from('456789abcdef.')).toString(), '***.')
  assert.equal(stream.push(Buffer.from('sk-live_0123')).toString(), '')
  assert.equal(stream.push(Buffer.from(' no. ')).toString(), 'sk-live_0123 no. ')
  assert.equal(stream.push(Buffer.from('sk-li')).toString(), '')
  assert.equal(stream.end().toString(), 'sk-li')
})

test('bytes that are no text pass through a stream unchanged', () => {
  const chunk = Buffer.from([0xff, 0x00, 0xc3, 0x28, 0x80, 0xfe])
  const stream = redactor.stream()
  assert.deepEqual(Buffer.concat([stream.push(chunk), stream.end()]), chunk)
})
