import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import type { Arrival, ReceivingRoom } from './receiving-room.ts'
import { createReceivingRoom } from './receiving-room.ts'

const half = 512 * 1024
const arrival: Arrival = { tool: 'a', address: '192.0.2.1', isSpent: false, bytes: half }

function takeAll(room: ReceivingRoom, of: (index: number) => Partial<Arrival>): (() => void)[] {
  const taken: (() => void)[] = []
  for (let index = 0; index < 10_000; index += 1) {
    try {
      taken.push(room.take({ ...arrival, ...of(index) }))
    } catch (error) {
      assert.ok(error instanceof AppError && error.code === 'rate_limited' && error.retryAfterSeconds === 1)
      return taken
    }
  }
  return assert.fail('there was no end')
}

const addressOf = (index: number) => `192.0.2.${index}`

test('one address, one tool and all together have room for so much', () => {
  const room = createReceivingRoom()
  const one = takeAll(room, () => ({}))
  assert.equal(one.length, 32)
  const ofTool = takeAll(room, (index) => ({ address: addressOf(index + 2) }))
  assert.equal(ofTool.length, 32)
  const others = takeAll(room, (index) => ({ address: addressOf(index + 2), tool: `b${index}` }))
  assert.equal(others.length, 64)
  for (const release of [...one, ...ofTool, ...others]) release()
  assert.equal(takeAll(room, () => ({})).length, 32, 'all of it was given back')
})

test('many small messages fit, though not without end; those of one /64 are one address', () => {
  assert.equal(takeAll(createReceivingRoom(), () => ({ bytes: 0 })).length, 256)
  const room = createReceivingRoom()
  assert.equal(takeAll(room, (index) => ({ address: `2001:db8::${index}` })).length, 32)
  room.take({ ...arrival, address: '2001:db8:0:1::1' })
})

test('who was not believed too often keeps a narrow way in', () => {
  const room = createReceivingRoom()
  assert.equal(takeAll(room, () => ({ isSpent: true })).length, 2)
  room.take(arrival)
  assert.equal(takeAll(createReceivingRoom(), () => ({ isSpent: true, bytes: 10 })).length, 16)
})

test('room is given back once', () => {
  const room = createReceivingRoom()
  const [first, ...rest] = takeAll(room, () => ({}))
  assert.ok(first !== undefined && rest.length === 31)
  first()
  first()
  room.take(arrival)
  assert.throws(() => room.take(arrival))
})
