import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readGuardRules } from './guard-rules.ts'

test('without settings nothing is allowed beyond https to the world', () => {
  const rules = readGuardRules({})
  assert.equal(rules.allowHttp, false)
  assert.deepEqual([rules.ports.size, rules.allowedBlocks.length, rules.allowedHosts.size], [0, 0, 0])
})

test('blocks, addresses and host names are told apart', () => {
  const rules = readGuardRules({
    allow: ['10.0.0.0/8', '::1', 'fd00::/8', 'localhost', 'receiver.corp', 'a_b-c.x1'],
  })
  assert.deepEqual(
    rules.allowedBlocks.map(({ first, prefixBits }) => `${String(first)}/${prefixBits}`),
    ['10.0.0.0/8', '::1/128', 'fd00::/8'],
  )
  assert.deepEqual([...rules.allowedHosts], ['localhost', 'receiver.corp', 'a_b-c.x1'])
})

test('all entries that cannot be are named at once', () => {
  assert.throws(
    () =>
      readGuardRules({
        ports: [0, 8443],
        allow: ['10.0.0.1/8', '10.0.0.0/8'],
        refuse: ['localhost', '::1/129'],
      }),
    (error) =>
      error instanceof RangeError &&
      /^0: .*; 10\.0\.0\.1\/8: .*; ::1\/129: .*; localhost: must be a block/.test(error.message),
  )
})

for (const entry of [
  '',
  ' ',
  '*',
  '*.example.com',
  '.example.com',
  'example.com.',
  'Example.com',
  'ex ample.com',
  'https://example.com',
  'example.com:443',
  'bücher.example',
  '-a.example',
  'a-.example',
  '127.1',
  '1',
  '0x7f.1',
  'a.0x7f',
  '10.0.0.0/08',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  '10.0.0.0/255.0.0.0',
  '10.0.0.0/9.5',
  '10.128.0.0/8',
  '0.0.0.0/0',
  '::/0',
  'fd00::1/64',
  'fe80::1%eth0',
  '[::1]',
  '010.0.0.0/8',
])
  test(`${JSON.stringify(entry)} is no entry of an allow-list`, () => {
    assert.throws(() => readGuardRules({ allow: [entry] }), RangeError)
  })

for (const port of [0, -1, 65_536, 1.5, Number.NaN])
  test(`${port} is no port`, () => {
    assert.throws(() => readGuardRules({ ports: [port] }), RangeError)
  })
