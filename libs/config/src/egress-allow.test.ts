import assert from 'node:assert/strict'
import { test } from 'node:test'
import { egressAllow } from './egress-allow.ts'
import { formatIpv4Range } from './ipv4-range.ts'

test('exceptions are blocks or addresses, each with or without a port', () => {
  const read = egressAllow().parse('10.0.0.5/32:5432, 10.1.0.0/16,192.168.7.9:53,')
  assert.deepEqual(
    read.map(({ range, port }) => [formatIpv4Range(range), port]),
    [
      ['10.0.0.5/32', 5432],
      ['10.1.0.0/16', undefined],
      ['192.168.7.9/32', 53],
    ],
  )
})

test('every entry that could mean something else is refused, all of them at once', () => {
  const wrong = [
    '10.0.0.5/8',
    '0.0.0.0/0',
    '10.0.0.0/33',
    '256.0.0.1',
    'fd00::/8',
    'db.internal',
    '10.0.0.1:0',
    '10.0.0.1:99999',
  ]
  const { error } = egressAllow().safeParse(wrong.join(','))
  const named = error?.issues.map(({ message }) => message.slice(0, message.indexOf(': ')))
  assert.deepEqual(named, wrong)
})

test('text that would be more than an address to whoever reads it is refused', () => {
  for (const text of ['10.0.0.0/8 accept', '10.0.0.1}', '10.0.0.1:53;drop', '١٠.0.0.1', '10.0.0.1/'])
    assert.equal(egressAllow().safeParse(text).success, false, text)
})
