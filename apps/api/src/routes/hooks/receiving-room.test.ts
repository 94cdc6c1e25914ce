import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import type { Arrival, Place, ReceivingRoom } from './receiving-room.ts'
import { createReceivingRoom } from './receiving-room.ts'

const half = 512 * 1024
const arrival: Arrival = { tool: 'a', address: '192.0.2.1', isSpent: false }
const isFull = (error: unknown) =>
  error instanceof AppError && error.code === 'rate_limited' && error.retryAfterSeconds === 1

/** As many as there is room for, each with so many bytes. */
function takeAll(room: ReceivingRoom, bytes: number, of: (index: number) => Partial<Arrival> = () => ({})) {
  const taken: Place[] = []
  for (let index = 0; index < 10_000; index += 1) {
    let place: Place | undefined
    try {
      place = room.take({ ...arrival, ...of(index) })
      place.grow(bytes)
    } catch (error) {
      place?.leave()
      assert.ok(isFull(error))
      return taken
    }
    taken.push(place)
  }
  return assert.fail('there was no end')
}

const addressOf = (index: number) => `192.0.2.${index}`

test('one address, one tool and all together have room for so much', () => {
  const room = createReceivingRoom()
  const one = takeAll(room, half)
  assert.equal(one.length, 32)
  const ofTool = takeAll(room, half, (index) => ({ address: addressOf(index + 2) }))
  assert.equal(ofTool.length, 32)
  const others = takeAll(room, half, (index) => ({ address: addressOf(index + 2), tool: `b${index}` }))
  assert.equal(others.length, 64)
  for (const place of [...one, ...ofTool, ...others]) place.leave()
  assert.equal(takeAll(room, half).length, 32, 'all of it was given back')
})

test('many small messages fit, though not without end; those of one /64 are one address', () => {
  assert.equal(takeAll(createReceivingRoom(), 10).length, 512)
  const room = createReceivingRoom()
  assert.equal(takeAll(room, half, (index) => ({ address: `2001:db8::${index}` })).length, 32)
  room.take({ ...arrival, address: '2001:db8:0:1::1' })
})

test('what a body has not brought yet takes no room, and the one that does not fit is refused', () => {
  const room = createReceivingRoom()
  const silent = Array.from({ length: 128 }, () => room.take(arrival))
  const large = takeAll(room, half)
  assert.equal(large.length, 24, 'of the 16 MiB of an address all but 4')
  const [first, second] = silent
  assert.ok(first && second)
  // They share what is left of the last half.
  assert.throws(() => first.grow(half), isFull)
  first.grow(10)
  large[0]?.leave()
  first.grow(half)
  assert.throws(() => second.grow(half), isFull)
  first.grow(half)
})

test('who was not believed too often keeps a narrow way in', () => {
  const room = createReceivingRoom()
  assert.equal(takeAll(room, half, () => ({ isSpent: true })).length, 2)
  room.take(arrival)
  assert.equal(takeAll(createReceivingRoom(), 10, () => ({ isSpent: true })).length, 32)
})

test('room is given back once', () => {
  const room = createReceivingRoom()
  const [first, ...rest] = takeAll(room, half)
  assert.ok(first !== undefined && rest.length === 31)
  first.leave()
  first.leave()
  room.take(arrival).grow(half)
  assert.throws(() => room.take(arrival), isFull)
})
