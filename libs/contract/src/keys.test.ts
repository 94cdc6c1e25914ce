import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyShape, newKeyBody, newKeyShape, toolName, topicName } from './keys.ts'
import { scopes } from './scopes.ts'

const least = { name: 'ci', scopes: ['tools:read'] }
const accepts = (body: unknown) => newKeyBody.safeParse(body).success

/** Where the faults of a body are. */
function places(body: unknown): string[] {
  const parsed = newKeyBody.safeParse(body)
  return parsed.success ? [] : [...new Set(parsed.error.issues.map((issue) => issue.path.join('/')))]
}

test('a key needs a name and a scope, and takes bindings and an end', () => {
  assert.deepEqual(newKeyBody.parse(least), least)
  const full = {
    ...least,
    scopes: [...scopes],
    topics: ['a b', 'ü'],
    tools: ['x-1'],
    expires_at: '2030-01-01T00:00:00+02:00',
  }
  assert.deepEqual(newKeyBody.parse(full), full)
})

test('the white space around a name is dropped, and a name of white space is none', () => {
  assert.equal(newKeyBody.parse({ ...least, name: '  ci ' }).name, 'ci')
  assert.deepEqual(places({ ...least, name: '   ' }), ['name'])
})

test('all faults of a body are told, each in its place', () => {
  const body = {
    name: '',
    scopes: ['tools:read', 'tools:all'],
    topics: [],
    tools: ['Bad'],
    expires_at: 'soon',
  }
  assert.deepEqual(places(body).toSorted(), ['expires_at', 'name', 'scopes/1', 'tools/0', 'topics'])
})

test('what is no body of a key is refused', () => {
  for (const body of [
    undefined,
    null,
    [],
    'x',
    {},
    { name: 'ci' },
    { ...least, scopes: [] },
    { ...least, scopes: 'tools:read' },
    { ...least, name: 7 },
    { ...least, topics: null },
    { ...least, tools: [] },
    { ...least, admin: true },
    { ...least, name: 'x'.repeat(101) },
    { ...least, topics: ['x'.repeat(201)] },
    { ...least, topics: Array.from({ length: 101 }, (_, index) => `t${index}`) },
    { ...least, tools: Array.from({ length: 1_001 }, (_, index) => `t${index}`) },
    { ...least, scopes: Array.from({ length: 101 }, () => 'tools:read') },
    { ...least, expires_at: '2030-01-01' },
    { ...least, expires_at: '2030-02-30T00:00:00Z' },
    { ...least, expires_at: '2030-01-01T00:00:00' },
  ])
    assert.ok(!accepts(body), JSON.stringify(body))
})

test('a text that steers a terminal or cannot be stored as it is is refused', () => {
  for (const bad of [
    '\0',
    '\n',
    '\u001b[2J',
    '\u007f',
    '\u0085',
    '\u2028',
    '\u202e',
    '\u2066',
    '\ud800',
    '\udc00x',
  ]) {
    assert.ok(!accepts({ ...least, name: `a${bad}b` }), `name ${JSON.stringify(bad)}`)
    assert.ok(!topicName.safeParse(`a${bad}b`).success, `topic ${JSON.stringify(bad)}`)
  }
  for (const good of ['日本', 'naïve', '👩‍💻', 'a:b/c d']) assert.equal(topicName.parse(good), good)
})

test('topics of the platform cannot be named by callers', () => {
  assert.ok(!topicName.safeParse('key:abc').success)
  assert.ok(!topicName.safeParse('hook:abc').success)
  assert.ok(!accepts({ ...least, topics: ['fine', 'key:'] }))
  assert.ok(!accepts({ ...least, topics: ['hook:'] }))
  for (const topic of ['key', 'keys:abc', 'monkey:abc', 'KEY:abc', 'hook', 'hooks:abc', 'a hook:abc'])
    assert.ok(topicName.safeParse(topic).success, topic)
})

test('a tool is named like its folder', () => {
  for (const name of ['a', 'web-search_2', 'x'.repeat(64)]) assert.ok(toolName.safeParse(name).success, name)
  for (const name of ['', 'A', '1a', '_base', '.git', '-a', 'a b', 'a/b', '../a', 'a\n', 'ä', 'x'.repeat(65)])
    assert.ok(!toolName.safeParse(name).success, JSON.stringify(name))
})

test('what shows a key leaves out what it does not know, the token above all', () => {
  const shown = {
    id: 'k',
    name: 'ci',
    scopes: ['tools:read'],
    topics: null,
    tools: null,
    created_at: '2030-01-01T00:00:00.000Z',
    expires_at: null,
    revoked_at: null,
  }
  assert.deepEqual(keyShape.parse({ ...shown, key: 'yk_k_s', secret_hash: '$argon2id$' }), shown)
  assert.deepEqual(newKeyShape.parse({ ...shown, key: 'yk_k_s' }), { ...shown, key: 'yk_k_s' })
})

test('no scope stands twice in the list', () => {
  assert.equal(new Set(scopes).size, scopes.length)
  for (const scope of scopes) assert.match(scope, /^[a-z]+:[a-z]+$/)
})
