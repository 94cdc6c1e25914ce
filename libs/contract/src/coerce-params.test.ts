import assert from 'node:assert/strict'
import { test } from 'node:test'
import { coerceParams } from './coerce-params.ts'
import type { Json, Parameter, Parameters } from './parameters.ts'

const of = (type: Parameter['type'], rest: Partial<Parameter> = {}): Parameters => ({
  p: { type, required: false, ...rest },
})

function taken(parameters: Parameters, given: unknown): Record<string, Json> {
  const coerced = coerceParams(parameters, given)
  assert.ok('params' in coerced, JSON.stringify(coerced))
  return coerced.params
}

function refused(parameters: Parameters, given: unknown): string[] {
  const coerced = coerceParams(parameters, given)
  return 'faults' in coerced ? coerced.faults.map(({ pointer, detail }) => `${pointer} ${detail}`) : []
}

test('a whole number may come as its text, in the one way that it is written', () => {
  for (const [text, value] of [
    ['5', 5],
    ['0', 0],
    ['-7', -7],
    ['9007199254740991', 2 ** 53 - 1],
  ] as const)
    assert.deepEqual(taken(of('integer'), { p: text }), { p: value })
  for (const text of [
    '',
    ' 5',
    '5 ',
    '+5',
    '05',
    '-0',
    '5.0',
    '1e3',
    '0x5',
    '٥',
    '9007199254740993',
    'five',
    '5n',
  ])
    assert.equal(refused(of('integer'), { p: text }).length, 1, text)
})

test('true and false may come as texts, and nothing else is coerced', () => {
  assert.deepEqual(taken(of('boolean'), { p: 'true' }), { p: true })
  assert.deepEqual(taken(of('boolean'), { p: 'false' }), { p: false })
  for (const [type, value] of [
    ['boolean', 'True'],
    ['boolean', '1'],
    ['boolean', 1],
    ['number', '5'],
    ['float', '5.5'],
    ['string', 5],
    ['string', true],
    ['integer', 5.5],
    ['integer', 2 ** 53],
    ['integer', true],
    ['array', '[]'],
    ['array', {}],
    ['object', '{}'],
    ['object', []],
    ['number', Number.NaN],
    ['number', Infinity],
  ] as const)
    assert.equal(refused(of(type), { p: value }).length, 1, `${type} ${JSON.stringify(value)}`)
})

test('items of a list are coerced and judged as the list declares', () => {
  const list = of('array', { items: { type: 'integer', maximum: 9 } })
  assert.deepEqual(taken(list, { p: ['1', 2] }), { p: [1, 2] })
  assert.deepEqual(refused(list, { p: ['1', 10, 'x'] }), [
    '/params/p/1 must be at most 9',
    '/params/p/2 must be a whole number between -9007199254740991 and 9007199254740991',
  ])
  assert.deepEqual(taken(of('array'), { p: ['1', null] }), { p: ['1', null] })
})

test('what is not given takes the default, a copy each time', () => {
  const list = of('array', { default: [1], required: true })
  const first = taken(list, {})
  assert.deepEqual(first, { p: [1] })
  assert.ok(Array.isArray(first['p']) && first['p'].push(2))
  assert.deepEqual(taken(list, { p: null }), { p: [1] })
  assert.deepEqual(taken(of('string', { default: '' }), {}), { p: '' })
})

test('null is nothing given: refused where it is required, left away where it is not', () => {
  assert.deepEqual(refused(of('string', { required: true }), { p: null }), ['/params/p is required'])
  assert.deepEqual(refused(of('string', { required: true, default: null }), {}), ['/params/p is required'])
  assert.deepEqual(taken(of('string'), { p: null }), {})
})

test('bounds, choices and patterns are kept', () => {
  assert.deepEqual(refused(of('number', { minimum: 1.5 }), { p: 1 }), ['/params/p must be at least 1.5'])
  assert.deepEqual(refused(of('integer', { maximum: 4 }), { p: '5' }), ['/params/p must be at most 4'])
  assert.deepEqual(refused(of('string', { enum: ['a', 'b'] }), { p: 'c' }), [
    '/params/p must be one of "a", "b"',
  ])
  assert.deepEqual(taken(of('integer', { enum: [0] }), { p: -0 }), { p: -0 })
  assert.deepEqual(refused(of('string', { pattern: '^a+$' }), { p: 'b' }), [
    '/params/p must match the pattern ^a+$',
  ])
  assert.deepEqual(taken(of('string', { pattern: 'a' }), { p: 'bab' }), { p: 'bab' })
})

test('a name that the tool does not have is refused, and the one that was meant is told', () => {
  const parameters = { place: of('string')['p'] ?? assert.fail() }
  assert.deepEqual(refused(parameters, { plce: 'x', zzz: 1, _state: {}, 'a/b~c': 1 }), [
    '/params/_state is set by the platform: names beginning "_" are its own',
    '/params/a~1b~0c is not a parameter of this tool: remove it',
    '/params/plce is not a parameter of this tool: did you mean "place"?',
    '/params/zzz is not a parameter of this tool: remove it',
  ])
})

test('names of the language are names like others', () => {
  for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
    assert.equal(refused(of('string'), { [name]: 'x' }).length, 1, name)
    assert.equal(refused({ [name]: { type: 'string', required: true } }, {}).length, 1, name)
    assert.deepEqual(taken({ [name]: { type: 'string', required: true } }, { [name]: 'x' }), { [name]: 'x' })
  }
  for (const hostile of ['{"__proto__":{"p":"x"}}', '{"p":{"__proto__":{"x":1}}}'])
    assert.equal(refused(of('object'), JSON.parse(hostile)).length, 1, hostile)
})

test('what is no object of JSON is refused', () => {
  for (const given of [undefined, null, [], 'p', 1]) {
    assert.deepEqual(refused(of('string'), given), ['/params must be an object'])
  }
  for (const given of [new Date(0), () => 1, 1n, undefined])
    assert.equal(refused(of('array'), { p: [given] }).length, 1)
  for (const text of ['\0', '\ud800']) assert.equal(refused(of('string'), { p: text }).length, 1)
})

test('a value may be 64 levels deep', () => {
  const nested = (levels: number) => ({ p: JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as Json })
  assert.ok(taken(of('array'), nested(64)))
  for (const levels of [65, 1_000_000])
    assert.match(refused(of('array'), nested(levels)).join(), /^\/params\/p\/0 is nested too deep/)
})

// What costs more than it should costs minutes: the time limit is for that, and for nothing else.
test('a stranger cannot buy time with many names, faults or letters', { timeout: 120_000 }, () => {
  const parameters: Parameters = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [
      `${'n'.repeat(50)}${index}`,
      { type: 'string', required: false },
    ]),
  )
  const names = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, index) => [`${'n'.repeat(48)}x${index}`, 1]),
  )
  const items = of('array', { items: { type: 'string', pattern: '^(?:[ab]{0,9}){9}c$' } })
  const attacks: [Parameters, unknown][] = [
    [parameters, names],
    [of('array', { items: { type: 'integer' } }), { p: Array.from({ length: 2_000_000 }, () => 'x') }],
    [of('string', { pattern: '[ab]*a[ab]{200}c$' }), { p: 'ab'.repeat(16_000) }],
    [
      of('array', { items: { type: 'integer', enum: Array.from({ length: 500 }, (_, i) => i) } }),
      { p: Array.from({ length: 2_000_000 }, () => 500) },
    ],
    [of('array'), { p: Array.from({ length: 1_000_000 }, () => '\0') }],
    [of('string'), Object.fromEntries(Array.from({ length: 500_000 }, (_, index) => [`x${index}`, 1]))],
    [items, { p: Array.from({ length: 1_000 }, () => 'ab'.repeat(1_000)) }],
  ]
  for (const [declared, given] of attacks) {
    const faults = refused(declared, given)
    assert.ok(faults.length > 0 && faults.length <= 100)
  }
  assert.match(refused(items, { p: ['x'.repeat(40_000)] }).join(), /too long for its pattern/)
})
