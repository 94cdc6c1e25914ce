import assert from 'node:assert/strict'
import { test } from 'node:test'
import { format, inspect } from 'node:util'
import { Secret } from './secret.ts'

test('a secret shows itself to reveal alone', () => {
  const secret = new Secret('c4n4ry')
  assert.equal(secret.reveal(), 'c4n4ry')
  const ways: Record<string, unknown> = {
    join: ['a', secret].join(' '),
    string: String(secret),
    plus: `x${secret.toString()}`,
    json: JSON.stringify({ secret }),
    inspect: inspect({ deep: { secret } }, { depth: 9, showHidden: true }),
    rawInspect: inspect(secret, { customInspect: false, showHidden: true }),
    format: format('%s %o %O %j %d', secret, secret, secret, secret, secret),
    entries: JSON.stringify([
      Object.entries(secret),
      Object.getOwnPropertyNames(secret),
      Object.assign({}, secret),
    ]),
    clone: inspect(structuredClone(secret)),
    error: inspect(new Error('x', { cause: secret })),
  }
  for (const [way, shown] of Object.entries(ways))
    assert.ok(!String(shown).includes('c4n4ry'), `${way}: ${String(shown)}`)
  assert.equal(ways['string'], '***')
})
