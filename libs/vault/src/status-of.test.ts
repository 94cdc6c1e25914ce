import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open, secret } from '../fixtures/vaults.ts'
import type { SettingsSchema } from './settings-schema.ts'
import { statusOf } from './status-of.ts'

const withDefault = { ...secret, secret: false, default: 5 }
const cases: [string, SettingsSchema, string[], ReturnType<typeof statusOf>][] = [
  ['has nothing to configure', {}, [], 'system'],
  ['has nothing to configure any more', {}, ['old'], 'system'],
  ['needs nothing', { a: open }, [], 'connected'],
  ['lacks what it needs', { a: secret, b: open }, ['b'], 'available'],
  ['lacks one of two', { a: secret, c: secret }, ['a'], 'available'],
  ['has all that it needs', { a: secret, c: secret }, ['c', 'a', 'old'], 'connected'],
  ['needs what has a default', { a: withDefault }, [], 'connected'],
  ['needs what has false as its default', { a: { ...withDefault, default: false } }, [], 'connected'],
  ['has a key named like a method of every object', { constructor: secret }, [], 'available'],
]

for (const [name, schema, filled, status] of cases) {
  test(`a tool that ${name} is ${status}`, () => {
    assert.equal(statusOf(schema, new Set(filled)), status)
  })
}
