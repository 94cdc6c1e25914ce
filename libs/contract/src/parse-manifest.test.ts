import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseManifest } from './parse-manifest.ts'

const least = {
  name: 'a',
  description: 'A tool',
  trigger: { type: 'on_demand' },
  parameters: {},
  returns: {},
}

/** Every fault of a manifest, as `pointer detail`. */
function faultsOf(value: unknown): string[] {
  const parsed = parseManifest(value)
  return 'faults' in parsed ? parsed.faults.map(({ pointer, detail }) => `${pointer} ${detail}`) : []
}

const pointersOf = (value: unknown) => faultsOf(value).map((fault) => fault.slice(0, fault.indexOf(' ')))

const withParameter = (declared: object) => ({ ...least, parameters: { p: declared } })

test('the least manifest gets every default', () => {
  assert.deepEqual(parseManifest(least), {
    manifest: {
      ...least,
      version: 'latest',
      input: 'argument',
      output: {
        synthesize: true,
        ephemeral: false,
        card: { enabled: false, accent_color: '#5b9bd5', background_color: 'rgba(91,155,213,0.08)' },
      },
      config_schema: {},
      constraints: { timeout_seconds: 9, retries: 0, rerun: true },
      sandbox: { memory: '256m', cpus: 1, network: 'bridge', writable: false, reuse: 1 },
      examples: [],
    },
  })
})

test('a manifest with everything that can be written is taken as it is', () => {
  const full = {
    name: 'weather',
    description: 'The weather\nof a place',
    version: '1.0',
    category: 'search',
    icon: 'fa-star',
    trigger: {
      type: 'cron',
      schedule: '*/30',
      prompt: 'Sum\tup:',
      timezone: 'Europe/Malta',
      overlap: 'allow',
    },
    parameters: {
      place: { type: 'string', description: 'Where', required: true, default: null, pattern: '^\\p{L}+$' },
      days: { type: 'integer', required: false, default: 3, minimum: 1, maximum: 7 },
      units: { type: 'string', required: false, enum: ['metric', 'imperial'], default: 'metric' },
      tags: {
        type: 'array',
        required: false,
        items: { type: 'string', pattern: '^[a-z]+$' },
        default: ['a'],
      },
      constructor: { type: 'object', required: false },
    },
    returns: { text: { type: 'string' } },
    config_schema: { api_key: { secret: true, required: true }, endpoint: { default: 'https://x.test' } },
    constraints: { timeout_seconds: 30, cost_budget: 1000 },
    sandbox: { memory: '1G', network: 'none', reuse: 10, user: '1000:1000' },
    notification: {},
    examples: [{ description: 'Rome', params: { place: 'Roma', days: '2' } }],
  }
  const parsed = parseManifest(full)
  assert.ok('manifest' in parsed, JSON.stringify(parsed))
  assert.deepEqual(parsed.manifest.parameters, full.parameters)
  assert.equal(parsed.manifest.sandbox.reuse, 10)
  assert.deepEqual(parsed.manifest.examples, full.examples)
})

test('what manifests of other houses write is taken: null for no default, a float, a colour with spaces', () => {
  const example = {
    name: 'tool_example',
    description: 'Greets',
    version: '1.0',
    category: 'search|calculation',
    trigger: {
      type: 'cron',
      schedule: '*/30',
      prompt: 'Check for any overdue reminders and summarize them:',
    },
    parameters: { name: { type: 'float', description: 'd', required: true, default: null } },
    returns: { text: { type: 'string' }, html: { type: 'string' } },
    output: {
      synthesize: false,
      card: { enabled: true, title: 'In {{location}}', background_color: 'rgba(108, 99, 255, 0.10)' },
    },
    config_schema: { endpoint: { description: 'URL', secret: false, default: 'https://api.example.com' } },
    constraints: { timeout_seconds: 10, cost_budget: 1000 },
    sandbox: { network: 'none', memory: '64m', writable: true },
    notification: { default_enabled: false },
  }
  assert.deepEqual(faultsOf(example), [])
})

test('all faults are told at once, in the order of their pointers, in plain words', () => {
  const faults = faultsOf({
    name: 'Bad Name',
    descripton: 'x',
    trigger: { type: 'cron', schedule: '1 2 3', prompt: 'p', timezone: 'Mars/Base', timezon: 1 },
    parameters: { p: { type: 'text', requird: true }, _state: { type: 'string' } },
    sandbox: { memory: 5, network: 'lan', writable: true, reuse: 2, memry: '1g' },
    constraints: { timeout_seconds: 9000 },
    config_schema: { key: { secret: 'yes' } },
  })
  assert.deepEqual(faults, [
    '/config_schema/key/secret must be true or false',
    '/constraints/timeout_seconds must be at most 900',
    '/description is required',
    '/descripton "descripton" is not known here: did you mean "description"?',
    '/name lower-case letters, digits, - and _, a letter first',
    '/parameters/_state a name has letters, digits, - and _, a letter first, 64 at most',
    '/parameters/p/requird "requird" is not known here: did you mean "required"?',
    '/parameters/p/type must be one of string, integer, float, number, boolean, array, object',
    '/returns is required',
    '/sandbox/memory must be a text',
    '/sandbox/memry "memry" is not known here: did you mean "memory"?',
    '/sandbox/network must be one of bridge, none, host',
    '/trigger/timezon "timezon" is not known here: did you mean "timezone"?',
  ])
})

test('the rules between fields are told together with faults of shape elsewhere', () => {
  const faults = pointersOf({
    ...least,
    name: 7,
    sandbox: { reuse: 2, writable: true, memory: '1m' },
    config_schema: { key: { secret: true, default: 'sk' }, other: { secret: 1 } },
    parameters: { p: { type: 'integer', minimum: 5, maximum: 1 }, q: { type: 'nothing' } },
  })
  assert.deepEqual(faults, [
    '/config_schema/key/default',
    '/config_schema/other/secret',
    '/name',
    '/parameters/p/minimum',
    '/parameters/q/type',
    '/sandbox/memory',
    '/sandbox/reuse',
  ])
})

test('a kind of trigger that is missing or not known is told as such', () => {
  assert.deepEqual(faultsOf({ ...least, trigger: {} }), ['/trigger/type is required'])
  assert.deepEqual(faultsOf({ ...least, trigger: { type: 'crn' } }), [
    '/trigger/type must be one of on_demand, cron, webhook',
  ])
  assert.deepEqual(faultsOf({ ...least, trigger: 'cron' }), ['/trigger must be an object'])
  assert.deepEqual(faultsOf({ ...least, trigger: { type: 'webhook' } }), ['/trigger/auth is required'])
})

test('what an author adds under x- is left out of what is parsed', () => {
  const parsed = parseManifest({ ...least, 'x-team': { a: 1 }, sandbox: { 'x-why': 'b' } })
  assert.ok('manifest' in parsed)
  assert.ok(!('x-team' in parsed.manifest) && !('x-why' in parsed.manifest.sandbox))
})

test('a declaration must be able to take its own values', () => {
  const cases: [object, string][] = [
    [{ type: 'integer', default: 'five' }, '/parameters/p/default'],
    [{ type: 'integer', default: '5' }, '/parameters/p/default'],
    [{ type: 'integer', default: 9, maximum: 8 }, '/parameters/p/default'],
    [{ type: 'string', default: 'c', enum: ['a', 'b'] }, '/parameters/p/default'],
    [{ type: 'string', default: 'c', pattern: '^d' }, '/parameters/p/default'],
    [{ type: 'string', enum: ['a', 1] }, '/parameters/p/enum/1'],
    [{ type: 'number', enum: [1, 5], maximum: 4 }, '/parameters/p/enum/1'],
    [{ type: 'string', minimum: 1 }, '/parameters/p/minimum'],
    [{ type: 'boolean', maximum: 1 }, '/parameters/p/maximum'],
    [{ type: 'integer', pattern: '5' }, '/parameters/p/pattern'],
    [{ type: 'string', items: { type: 'string' } }, '/parameters/p/items'],
    [{ type: 'array', items: { type: 'string', minimum: 1 } }, '/parameters/p/items/minimum'],
    [{ type: 'array', items: { type: 'integer' }, default: [1, 'x'] }, '/parameters/p/default/1'],
    [{ type: 'array', items: { type: 'array', items: { type: 'string' } } }, '/parameters/p/items/items'],
    [{ type: 'object', enum: [{}] }, '/parameters/p/enum'],
    [{ type: 'object', default: [] }, '/parameters/p/default'],
  ]
  for (const [declared, pointer] of cases) {
    assert.deepEqual(pointersOf(withParameter(declared)), [pointer], JSON.stringify(declared))
  }
})

test('a pattern that would need a backtracking engine is refused, and so is one that is no pattern', () => {
  for (const pattern of ['(?=a)b', '(a)\\1', '(?<=a)b', '[', 'a{1001}', '(?:(?:a{0,30}){0,30})']) {
    const faults = faultsOf(withParameter({ type: 'string', pattern }))
    assert.equal(faults.length, 1, pattern)
    assert.match(
      faults[0] ?? '',
      /^\/parameters\/p\/pattern (?:must be a pattern of RE2|is too large a pattern)/,
    )
  }
  assert.deepEqual(faultsOf(withParameter({ type: 'string', pattern: '^(x+x+)+y$' })), [])
})

test('examples are held to the parameters', () => {
  const declared = withParameter({ type: 'integer', required: true })
  const examples = [
    { description: 'a', params: {} },
    { description: 'b', params: { p: 1, q: 2 } },
    { params: { p: 1 } },
  ]
  assert.deepEqual(pointersOf({ ...declared, examples }), [
    '/examples/0/params/p',
    '/examples/1/params/q',
    '/examples/2/description',
  ])
})

test('texts that steer a terminal are refused; lines and tabs are for long texts', () => {
  for (const bad of ['\u001b[2J', '\u202e', '\u0085', '\0', '\ud800']) {
    assert.deepEqual(pointersOf({ ...least, description: `a${bad}` }), ['/description'], JSON.stringify(bad))
    assert.deepEqual(pointersOf({ ...least, category: `a${bad}` }), ['/category'])
    assert.deepEqual(pointersOf({ ...least, returns: { text: [`a${bad}`] } }).length, 1)
  }
  assert.deepEqual(pointersOf({ ...least, category: 'a\nb' }), ['/category'])
  assert.deepEqual(faultsOf({ ...least, description: 'a\r\n\tb', documentation: 'c\n' }), [])
})

test('what is no manifest at all is refused', () => {
  for (const [index, value] of [undefined, null, 1, 'x', [], [least], () => 1, new Map()].entries())
    assert.equal(faultsOf(value).length, 1, String(index))
})

test('no name in a manifest reaches a prototype', () => {
  const hostile: unknown = JSON.parse(
    `{"name":"a","description":"A","trigger":{"type":"on_demand"},"returns":{},
      "parameters":{"__proto__":{"type":"string","required":true}}}`,
  )
  assert.deepEqual(pointersOf(hostile), ['/parameters/__proto__'])
  for (const place of ['{"__proto__":{"a":1}}', '{"constructor":{"prototype":{"polluted":1}}}'])
    faultsOf({
      ...least,
      sandbox: JSON.parse(place),
      config_schema: JSON.parse(place),
      returns: JSON.parse(place),
    })
  assert.ok(!('polluted' in {}) && !('a' in {}))
  const named = parseManifest(
    JSON.parse(JSON.stringify(withParameter({ type: 'string' })).replace('"p"', '"constructor"')),
  )
  assert.ok('manifest' in named && Object.hasOwn(named.manifest.parameters, 'constructor'))
})

test('a hundred faults are told, the last of which counts the rest', () => {
  const parameters = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`p${index}`, { type: 'x', y: 1 }]),
  )
  const parsed = parseManifest({ ...least, parameters })
  assert.ok('faults' in parsed)
  assert.equal(parsed.faults.length, 100)
  assert.deepEqual(parsed.faults.at(-1), { pointer: '', detail: 'has 101 more faults' })
})

// What costs more than it should costs minutes: the time limit is for that, and for nothing else.
test('ten megabytes of a stranger are refused, however they are made', { timeout: 120_000 }, () => {
  const deep: unknown = JSON.parse('['.repeat(5 * 2 ** 20) + ']'.repeat(5 * 2 ** 20))
  const wide: unknown = JSON.parse(`[${'0,'.repeat(5 * 2 ** 20)}0]`)
  const names = Object.fromEntries(Array.from({ length: 500_000 }, (_, index) => [`unknown_${index}`, 1]))
  for (const value of [deep, wide, names, 'x'.repeat(10 * 2 ** 20)]) {
    for (const hostile of [value, { ...least, returns: { a: value } }, { ...least, parameters: value }]) {
      const faults = faultsOf(hostile)
      assert.equal(faults.length, 1)
      assert.ok((faults[0] ?? '').length < 500)
    }
  }
  assert.match(faultsOf(deep)[0] ?? '', /is nested too deep/)
})

test('the largest manifests that are taken are parsed', { timeout: 120_000 }, () => {
  const deepest: unknown = JSON.parse('[['.repeat(15) + ']]'.repeat(15))
  const numbers = Array.from({ length: 120_000 }, () => 0)
  for (const returns of [{ a: numbers }, { a: Array.from({ length: 3_000 }, () => deepest) }]) {
    assert.deepEqual(faultsOf({ ...least, returns }), [])
  }
})
