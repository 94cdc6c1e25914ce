import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ipv4Range } from '@toolyard/config/ipv4-range'
import { overlaps, parseIpv4Range } from '@toolyard/config/ipv4-range'
import { chooseSubnet } from './choose-subnet.ts'

test('an installation gets the same block again, and another installation another one', () => {
  assert.equal(chooseSubnet('0123456789', []), chooseSubnet('0123456789', []))
  assert.notEqual(chooseSubnet('0123456789', []), chooseSubnet('9876543210', []))
})

test('the block overlaps nothing that is taken, until every block is', () => {
  const taken: Ipv4Range[] = []
  for (let count = 0; count < 128; count++) {
    const chosen = range(chooseSubnet(`installation ${count % 3}`, taken) ?? '')
    assert.ok(!taken.some((other) => overlaps(other, chosen)))
    assert.ok(overlaps(chosen, range('198.18.0.0/15')))
    taken.push(chosen)
  }
  const next = range(chooseSubnet('one more', taken) ?? '')
  assert.ok(overlaps(next, range('172.16.0.0/12')), 'the first pool is used up')
})

test('a wide route takes all that is in it, a single address the block around it', () => {
  assert.equal(chooseSubnet('a', ['198.18.0.0/15', '172.0.0.0/8', '10.0.0.0/8'].map(range)), undefined)
  const first = range(chooseSubnet('a', []) ?? '')
  const inside = { first: first.first + 700, last: first.first + 700, prefix: 32 }
  assert.ok(!overlaps(range(chooseSubnet('a', [inside]) ?? ''), inside))
})

function range(text: string): Ipv4Range {
  const parsed = parseIpv4Range(text)
  assert.ok(parsed, text)
  return parsed
}
