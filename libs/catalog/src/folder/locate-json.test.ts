import assert from 'node:assert/strict'
import { test } from 'node:test'
import { locateJson } from './locate-json.ts'

const faultsOf = (text: string) =>
  locateJson(text).faults.map(({ line, column, detail }) => `${line}:${column} ${detail}`)

test('what is not JSON is told with line, column and what was expected', () => {
  assert.deepEqual(faultsOf('{\n  "a": 1,\n}'), ['3:1 expected a key in double quotes, found "}"'])
  assert.deepEqual(faultsOf('{\n  a: 1}'), ['2:3 expected a key in double quotes or }, found "a"'])
  assert.deepEqual(faultsOf('{"a": 1 "b": 2}'), [
    '1:9 expected a comma or }, found a string that is not closed, or a line break or an unknown \\ in it',
  ])
  assert.deepEqual(faultsOf('{"a" 1}'), ['1:6 expected a colon, found "1"'])
  assert.deepEqual(faultsOf('[1\n,2'), ['2:3 expected a comma or ], found the end of the file'])
  assert.deepEqual(faultsOf('{"a": "x\ny"}'), [
    '1:7 expected a value, found a string that is not closed, or a line break or an unknown \\ in it',
  ])
  assert.deepEqual(faultsOf(''), ['1:1 expected a value, found the end of the file'])
  assert.deepEqual(faultsOf('{} {}'), ['1:4 expected the end of the file, found "{"'])
  assert.deepEqual(faultsOf('[01]'), ['1:3 expected a comma or ], found "1"'])
})

test('every key that is there twice is told, however it is written', () => {
  assert.deepEqual(
    locateJson('{"a": 1,\n"\\u0061": {"b": 1,\n"b": 2}}').faults.map(({ line, pointer }) => [line, pointer]),
    [
      [2, '/a'],
      [3, '/a/b'],
    ],
  )
  assert.deepEqual(faultsOf('[{"a": 1}, {"a": 1}, {"__proto__": 1}]'), [])
})

test('lines are known by pointer', () => {
  const { lines } = locateJson('{\n"a/b": [\n1,\n{"~": 2}],\n"c": 3}')
  assert.deepEqual(
    [...lines],
    [
      ['/a~1b', 2],
      ['/a~1b/0', 3],
      ['/a~1b/1', 4],
      ['/a~1b/1/~0', 4],
      ['/c', 5],
    ],
  )
})

test('it takes exactly what JSON.parse takes', () => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"b"',
    '"\\n"',
    '"\\x"',
    '"\\u00e9"',
    '"\n"',
    '1',
    '-',
    '0.5',
    '1e',
    '1e5',
    '01',
    'true',
    'nul',
    ' ',
    '\n',
    '\t',
    '\u00a0',
    '"',
  ]
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  let takenCount = 0
  for (let round = 0; round < 60_000; round++) {
    const text = Array.from({ length: 1 + random(7) }, () => pieces[random(pieces.length)]).join('')
    const isJson = parses(text)
    takenCount += Number(isJson)
    const faults = locateJson(text).faults.filter(({ pointer }) => pointer === undefined)
    assert.equal(faults.length === 0, isJson, JSON.stringify(text))
  }
  assert.ok(takenCount > 1_000, `${takenCount} texts were JSON`)
})

test('a hostile text costs little: nested without end, one long line, keys that grow each other', () => {
  const beganAtMs = performance.now()
  const bytes = 256 * 1024
  assert.match(faultsOf('['.repeat(bytes))[0] ?? '', /nested deeper than 64 levels/)
  assert.deepEqual(faultsOf(JSON.stringify({ a: 'x\\'.repeat(bytes / 3) })), [])
  const manyKeys = `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join(',')}}`
  assert.ok(locateJson(manyKeys).lines.size <= 10_000)
  assert.equal(locateJson(`{${'"a":1,'.repeat(40_000)}"b":1}`).faults.length, 100)
  const longKeys = '{"'.concat('k'.repeat(3_000), '":').repeat(30)
  const wide = `${longKeys}[${'1,'.repeat(50_000)}1]${'}'.repeat(30)}`
  const { lines, faults } = locateJson(wide)
  assert.deepEqual(faults, [])
  assert.ok([...lines.keys()].every((pointer) => pointer.length <= 2_000))
  assert.ok(performance.now() - beganAtMs < 10_000)
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
