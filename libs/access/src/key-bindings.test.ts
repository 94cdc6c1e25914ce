import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import type { AccessKeyRow } from './access-key.ts'
import { toAccessKey } from './access-key.ts'
import { defaultTopic, mayUseTool, mayUseTopic } from './key-bindings.ts'
import { requireScope } from './require-scope.ts'

const keyWith = (parts: Partial<AccessKeyRow>) =>
  toAccessKey({
    id: '01',
    name: 'test',
    scopes: ['tools:read'],
    topics: null,
    tools: null,
    created_at: new Date(0),
    expires_at: null,
    revoked_at: null,
    ...parts,
  })

const hasCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code

test('an unbound key may use every topic and tool and gets a topic of its own', () => {
  const key = keyWith({})
  assert.ok(mayUseTopic(key, 'any'))
  assert.ok(mayUseTool(key, 'any'))
  assert.equal(defaultTopic(key), 'key:01')
})

test('a key bound to one topic gets it by default and may use no other', () => {
  const key = keyWith({ topics: ['home'] })
  assert.equal(defaultTopic(key), 'home')
  assert.ok(mayUseTopic(key, 'home'))
  for (const other of ['', 'hom', 'home ', 'HOME', 'key:01']) assert.ok(!mayUseTopic(key, other), other)
  assert.ok(mayUseTool(key, 'any'))
})

test('a key bound to several topics must name one', () => {
  const key = keyWith({ topics: ['home', 'work'] })
  assert.throws(() => defaultTopic(key), hasCode('topic_required'))
  assert.ok(mayUseTopic(key, 'work'))
})

test('a key bound to tools may use those', () => {
  const key = keyWith({ tools: ['weather'] })
  assert.ok(mayUseTool(key, 'weather'))
  assert.ok(!mayUseTool(key, 'search'))
  assert.equal(defaultTopic(key), 'key:01')
})

test('a binding to nothing, which the table forbids, would allow nothing', () => {
  const key = keyWith({ topics: [], tools: [] })
  assert.ok(!mayUseTopic(key, 'any'))
  assert.ok(!mayUseTool(key, 'any'))
  assert.throws(() => defaultTopic(key), hasCode('topic_required'))
})

test('a scope that the key lacks is refused by name, and a scope unknown to this release grants nothing', () => {
  const key = keyWith({ scopes: ['tools:read', 'everything:always'] })
  requireScope(key, 'tools:read')
  assert.throws(
    () => requireScope(key, 'keys:manage'),
    (error) => hasCode('missing_scope')(error) && /keys:manage/.test(String(error)),
  )
  assert.deepEqual(key.scopes, ['tools:read'])
})

test('a key that one request changes would change for all, so it cannot be changed', () => {
  const key = keyWith({ topics: ['home'] })
  assert.throws(() => Object.assign(key, { topics: null }), TypeError)
  assert.throws(() => Array.prototype.push.call(key.scopes, 'keys:manage'), TypeError)
  assert.throws(() => Array.prototype.push.call(key.topics, 'work'), TypeError)
})
