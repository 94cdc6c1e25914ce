import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closedForwardChains, isIptablesForward } from './other-firewalls.ts'

test('chains that drop what is forwarded are found, whoever made them, and no other', () => {
  const chain = (fields: object) => ({ chain: { handle: 1, ...fields } })
  const answer = {
    nftables: [
      { metainfo: { version: '1.0.6' } },
      chain({ family: 'ip', table: 'filter', name: 'FORWARD', hook: 'forward', policy: 'drop' }),
      chain({ family: 'ip', table: 'filter', name: 'INPUT', hook: 'input', policy: 'drop' }),
      chain({ family: 'ip6', table: 'filter', name: 'FORWARD', hook: 'forward', policy: 'drop' }),
      chain({ family: 'inet', table: 'site', name: 'through', hook: 'forward', policy: 'drop' }),
      chain({ family: 'inet', table: 'open', name: 'through', hook: 'forward', policy: 'accept' }),
      chain({ family: 'ip', table: 'filter', name: 'DOCKER' }),
    ],
  }
  const closed = closedForwardChains(JSON.stringify(answer))
  assert.deepEqual(
    closed.map((found) => [found.table, found.chain, isIptablesForward(found)]),
    [
      ['filter', 'FORWARD', true],
      ['site', 'through', false],
    ],
  )
})
