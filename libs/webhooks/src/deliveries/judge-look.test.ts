import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeLook } from './judge-look.ts'
import type { Look } from './look.ts'

const free: Look = {
  id: 'msg_1',
  event: 'invocation.finished',
  key_id: 'k1',
  webhook_id: 'whk_1',
  invocation_id: 'inv_1',
  tool: 'weather',
  topic: 'trip',
  data: null,
  created_at: new Date(0),
  receiver: 'r1',
  url: 'https://hooks.example.com',
  version: '1',
  secret_no: 1,
  is_overlapping: false,
  waits: true,
  is_void: false,
  is_paused: false,
  is_failing: false,
  parked_by: null,
  due_in_ms: -1,
  under_way: 0,
  of_key: 0,
  of_late: 0,
  room_in_ms: null,
  is_next: false,
}
const notNow = { kind: 'not_now' }
const crowded = { kind: 'crowded', by: 'receiver' }
const fifty = { of_late: 50, room_in_ms: 740.2 }

for (const [what, parts, expected] of [
  ['it is due and there is room', {}, undefined],
  ['the last place is free', { under_way: 3, of_key: 63, of_late: 49 }, undefined],
  ['it is due at this very moment', { due_in_ms: 0 }, undefined],
  ['it has ended or is under way', { waits: false }, notNow],
  ['nobody is to be told any more', { is_void: true }, notNow],
  ['its webhook is paused', { is_paused: true }, notNow],
  ['its time comes soon', { due_in_ms: 0.2 }, { kind: 'waits', againMs: 1 }],
  ['its time comes within a minute', { due_in_ms: 60_000 }, { kind: 'waits', againMs: 60_000 }],
  ['its time comes later', { due_in_ms: 60_001 }, notNow],
  ['its receiver has all of its places', { under_way: 4 }, crowded],
  ['its receiver fails and none is under way', { is_failing: true }, undefined],
  ['its receiver fails and one is under way', { is_failing: true, under_way: 1 }, crowded],
  ['its key has all of its places', { of_key: 64 }, { kind: 'crowded', by: 'key' }],
  ['both have all of their places', { under_way: 4, of_key: 64 }, crowded],
  ['fifty went in the last second', fifty, crowded],
  ['fifty went and it is next', { ...fifty, is_next: true }, { kind: 'waits', againMs: 741 }],
  ['fifty went, a second ago', { of_late: 50, room_in_ms: -3, is_next: true }, { kind: 'waits', againMs: 1 }],
  ['it is next, and its receiver has all of its places', { under_way: 4, is_next: true }, crowded],
] as const)
  test(`where ${what}: ${expected === undefined ? 'it begins' : JSON.stringify(expected)}`, () => {
    assert.deepEqual(judgeLook({ ...free, ...parts }), expected)
  })

test('what is not there is not begun', () => assert.deepEqual(judgeLook(undefined), notNow))
