import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTool } from './fixtures/run-tool.ts'

test('results are told as an outline, and given as they are', async (t) => {
  const tool = await openTool(t, 'json_query')
  const json = '{"items":[{"name":"a {x}","tags":["x","y"]},{"name":"b","deep":{"er":[1,{}]}}],"n":null}'
  const whole = await tool.succeed({ query: '.', json })
  assert.equal(
    whole.text,
    [
      'items:',
      '  - item 1:',
      '    name: a (x)',
      '    tags:',
      '      - x',
      '      - y',
      '  - item 2:',
      '    name: b',
      '    deep:',
      '      er:',
      '        - 1',
      '        - (empty object)',
      'n: null',
    ].join('\n'),
  )
  assert.deepEqual(whole.data, { results: [JSON.parse(json)], count: 1, truncated: false })
  const names = await tool.succeed({ query: '.items[].name', json })
  assert.equal(names.text, '2 results:\n- a (x)\n- b')
  assert.deepEqual(names.data, { results: ['a {x}', 'b'], count: 2, truncated: false })
  assert.equal((await tool.succeed({ query: 'empty', json })).text, 'No result.')
  assert.deepEqual((await tool.succeed({ query: '. + 1', json: '1\n2 3' })).text, '3 results:\n- 2\n- 3\n- 4')
})

test('neither the query nor the JSON is ever a part of a command, and jq sees no environment', async (t) => {
  const tool = await openTool(t, 'json_query')
  for (const words of ['$(touch /tmp/x); `id` "\' \\ -n --arg', '-r', '--version']) {
    const { data } = await tool.succeed({ query: '.', json: JSON.stringify(words) })
    assert.deepEqual(data, { results: [words], count: 1, truncated: false })
  }
  const { text } = await tool.succeed({ query: '[env, $ENV] | map(keys) | add | unique', json: '1' })
  assert.equal(text, '- PATH')
  assert.match(
    (await tool.fail({ query: 'import "passwd" as $x {search:"/etc"}; $x', json: '1' })).message,
    /not found/,
  )
  const page = await tool.succeed({ query: '.', json: '"<script>alert(1)</script>"' })
  assert.match(page.html ?? '', /&lt;script&gt;/)
})

test('faults are told in the words of jq, without our files', async (t) => {
  const tool = await openTool(t, 'json_query')
  const faults = [
    ['.a,', '{}', /^The query is not understood: syntax error, unexpected \$end at line 1: \.a,$/],
    ['.a.b', '{"a":1}', /^The query failed: Cannot index number with string "b"$/],
    ['error({a:1})', '1', /^The query failed: \(not a string\): \("a":1\)$/],
    ['.', '{a', /^The parameter json is not valid JSON: Invalid numeric literal/],
    ['.', ' ', /^The parameter json is empty\.$/],
    [' ', '{}', /^The query is empty/],
  ] as const
  for (const [query, json, message] of faults) {
    const failure = await tool.fail({ query, json })
    assert.match(failure.message, message)
    assert.doesNotMatch(failure.message, /\/tmp|[{}]/)
  }
})

test('queries without end, without bound or with too much to say are stopped and told so', async (t) => {
  const tool = await openTool(t, 'json_query')
  assert.match((await tool.fail({ query: 'def f: f; f', json: '1' })).message, /did not end within 6 seconds/)
  assert.match((await tool.fail({ query: '[range(1e9)]', json: '1' })).message, /more memory than there is/)
  assert.match(
    (await tool.fail({ query: 'def f: 1 + f; f', json: '1' })).message,
    /more memory than there is/,
  )
  const endless = await tool.succeed({ query: 'repeat(1)', json: '1' })
  assert.match(endless.text, /\nThere are more results than fit/)
  assert.match((await tool.fail({ query: '[range(20000)]', json: '1' })).message, /larger than 50000 bytes/)
  const nested = '[limit(200; repeat(1))] | reduce .[] as $x (1; [.])'
  assert.match((await tool.fail({ query: nested, json: '1' })).message, /nested more than 50 deep/)
})

test('4 MB of JSON are read', async (t) => {
  const tool = await openTool(t, 'json_query')
  const json = JSON.stringify(Array.from({ length: 300_000 }, (_, index) => index))
  const padded = json.padEnd(4_100_000)
  assert.equal((await tool.succeed({ query: 'add', json: padded })).text, '44999850000')
})
