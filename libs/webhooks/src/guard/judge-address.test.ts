import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GuardSettings } from './guard-rules.ts'
import { readGuardRules } from './guard-rules.ts'
import { judgeAddress } from './judge-address.ts'

function judge(address: string, settings: GuardSettings = {}, byAllowedHost = false): string {
  const verdict = judgeAddress(address, { rules: readGuardRules(settings), byAllowedHost })
  return verdict.kind === 'passes' ? 'passes' : verdict.what
}

const special: [what: string, addresses: string][] = [
  [
    'a metadata address',
    '169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42',
  ],
  ['an unspecified address', '0.0.0.0 0.0.0.1 0.1.2.3 0.255.255.255 :: 0:0:0:0:0:0:0:0 ::0.0.0.0'],
  ['a loopback address', '127.0.0.0 127.0.0.1 127.1.2.3 127.255.255.255 ::1 0:0:0:0:0:0:0:1 ::0.0.0.1'],
  [
    'a private address',
    '10.0.0.0 10.0.0.1 10.255.255.255 172.16.0.0 172.20.3.4 172.31.255.255 192.168.0.0 192.168.255.255',
  ],
  ['a carrier-grade NAT address', '100.64.0.0 100.64.0.1 100.100.100.199 100.127.255.255'],
  ['a unique local address', 'fc00:: fc00::1 fd00::1 fd12:3456:789a::1 fdff:ffff:ffff:ffff::'],
  ['a link-local address', '169.254.0.0 169.254.1.1 169.254.255.255 fe80:: fe80::1 fe80::a9fe:a9fe febf::1'],
  ['a site-local address', 'fec0::1 feff:ffff::1'],
  ['a multicast address', '224.0.0.0 224.0.0.1 239.255.255.250 ff00:: ff02::1 ff05::1:3 ffff::1'],
  ['a broadcast address', '255.255.255.255'],
  ['a benchmarking address', '198.18.0.0 198.18.0.1 198.19.255.255 2001:2::1 2001:2:0:ffff::'],
  [
    'a documentation address',
    '192.0.2.0 192.0.2.255 198.51.100.7 203.0.113.255 2001:db8:: 2001:db8:ffff::1 3fff:: 3fff:fff:ffff::1',
  ],
  [
    'an IPv4-mapped address',
    '::ffff:0.0.0.0 ::ffff:127.0.0.1 ::ffff:7f00:1 ::FFFF:10.0.0.1 0:0:0:0:0:ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:8.8.8.8 ::ffff:808:808',
  ],
  ['an IPv4-translated address', '::ffff:0:127.0.0.1 ::ffff:0:7f00:1 ::ffff:0:808:808'],
  ['an IPv4-compatible address', '::127.0.0.1 ::7f00:1 ::169.254.169.254 ::a9fe:a9fe ::8.8.8.8 ::2 ::ffff'],
  ['a NAT64 address', '64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::8.8.8.8 64:ff9b::'],
  [
    'a local NAT64 address',
    '64:ff9b:1:: 64:ff9b:1::10.0.0.1 64:ff9b:1:a9fe:a9:fe00:: 64:ff9b:1:ffff:ffff:ffff:808:808',
  ],
  [
    'a 6to4 address',
    '2002:: 2002:7f00:1:: 2002:a9fe:a9fe::1 2002:a00:1::1 2002:808:808::1 192.88.99.0 192.88.99.1 192.88.99.2 192.88.99.255',
  ],
  ['a Teredo address', '2001:: 2001:0:a9fe:a9fe:: 2001:0000:4136:e378:8000:63bf:5601:5601'],
  [
    'an ISATAP address',
    '2606:4700::5efe:127.0.0.1 2606:4700::5efe:a9fe:a9fe 2a00:1::200:5efe:10.0.0.1 fe80::5efe:169.254.169.254 fd00::5efe:1.1.1.1',
  ],
  ['a segment routing address', '5f00:: 5f00::1 5f00:ffff::1'],
  ['a discard address', '100:: 100::1 100:0:0:0:ffff:: 100:0:0:1::1'],
  [
    'a reserved address',
    '192.0.0.0 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.170 192.0.0.255 192.31.196.1 192.52.193.1 192.175.48.6 240.0.0.0 240.0.0.1 250.1.2.3 255.255.255.254 2001:1::1 2001:1::3 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff:ffff::1 2620:4f:8000::1 3ffe::1 3ffe:831f::1',
  ],
  [
    'an address outside of global unicast',
    '64:ff9a::1 64:ff9c::1 200::1 400::1 1000::1 1fff:ffff::1 4000::1 5eff::1 5f01::1 6000::1 8000::1 a000::1 c000::1 e000::1 f000::1 f800::1 fbff:ffff::1 fe00::1 fe7f::1 1::1 100:0:0:2::1',
  ],
  [
    'no plain IP address',
    '|localhost|127.1|127.0.1|1|0|2130706433|0x7f000001|0x7f.0.0.1|0177.0.0.1|017700000001|127.0.0.01|127.0.0.1.|127.0.0.1 | 127.0.0.1|127.0.0.1:80|127.0.0.1/32|127.0.0.256|1.2.3.4.5|١٢٧.0.0.1|１２７.0.0.1|127。0。0。1|[::1]|::1]|::1/128|fe80::1%eth0|fe80::1%25eth0|::1%1|8.8.8.8%eth0|2606:4700::1%lo|1::2::3|:::1|::ffff:127.1|::ffff:0x7f.0.0.1|::ffff:0177.0.0.1|::ffff:127.0.0.01|12345::1|::fffff|1:2:3:4:5:6:7|1:2:3:4:5:6:7:8:9|1:2:3:4:5:6:7:1.2.3.4|g::1|undefined|8.8.8.8\0|8.8.8.8\n',
  ],
]

for (const [what, addresses] of special)
  for (const address of addresses.split(addresses.includes('|') ? '|' : ' '))
    test(`${JSON.stringify(address)} is refused as ${what}`, () => {
      assert.equal(judge(address), what)
    })

const open =
  '1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.31.195.255 192.31.197.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 2001:200::1 2001:4860:4860::8888 2001:4860:4860:0:0:0:0:8888 2001:db7::1 2001:db9::1 2003::1 2400:cb00::1 2606:4700::1111 2606:4700:0:0:0:0:0:1111 2606:4700::5eff:1.1.1.1 2620:4f:7fff::1 2620:4f:8001::1 2A00:1450:4001:81B::200E 2c0f::1 3ffd::1 3fff:1000::1'

for (const address of open.split(' '))
  test(`${address} may be dialled`, () => {
    assert.equal(judge(address), 'passes')
  })

test('an allowed block opens what lies in it, and nothing beside it', () => {
  const settings = {
    allow: ['10.1.0.0/16', '192.168.7.9', 'fd12::/16', '198.18.0.0/15', 'fe80::/10', '240.0.0.0/4'],
  }
  for (const address of '10.1.0.0 10.1.255.255 192.168.7.9 fd12::1 198.19.0.1 fe80::1 250.0.0.1'.split(' '))
    assert.equal(judge(address, settings), 'passes', address)
  assert.equal(judge('10.2.0.0', settings), 'a private address')
  assert.equal(judge('10.0.255.255', settings), 'a private address')
  assert.equal(judge('192.168.7.8', settings), 'a private address')
  assert.equal(judge('fd13::1', settings), 'a unique local address')
  assert.equal(judge('255.255.255.255', settings), 'a broadcast address')
  assert.equal(judge('127.0.0.1', settings), 'a loopback address')
})

test('an allowed block does not open an address that only embeds one of it', () => {
  const settings = { allow: ['10.0.0.0/8', '169.254.169.254', '::/8', '2000::/3', 'fd00::/8'] }
  assert.equal(judge('10.0.0.1', settings), 'passes')
  assert.equal(judge('::ffff:10.0.0.1', settings), 'an IPv4-mapped address')
  assert.equal(judge('::10.0.0.1', settings), 'an IPv4-compatible address')
  assert.equal(judge('::ffff:0:10.0.0.1', settings), 'an IPv4-translated address')
  assert.equal(judge('2002:a00:1::', settings), 'a 6to4 address')
  assert.equal(judge('2001:0:a00:1::', settings), 'a Teredo address')
  assert.equal(judge('64:ff9b:1::10.0.0.1', settings), 'a local NAT64 address')
  assert.equal(judge('fd00::5efe:10.0.0.1', settings), 'an ISATAP address')
  assert.equal(judge('fd00::1%eth0', settings), 'no plain IP address')
})

test('a metadata address is opened by its own address alone, not by a block around it', () => {
  const wide = { allow: ['169.254.0.0/16', '100.64.0.0/10', 'fc00::/7', '168.0.0.0/8', '169.254.169.254/31'] }
  for (const address of [
    '169.254.169.254',
    '100.100.100.200',
    'fd00:ec2::254',
    'fd20:ce::254',
    '168.63.129.16',
  ])
    assert.equal(judge(address, wide), 'a metadata address', address)
  assert.equal(judge('169.254.1.1', wide), 'passes')
  assert.equal(judge('169.254.169.254', { allow: ['169.254.169.254'] }), 'passes')
  assert.equal(judge('fd00:ec2::254', { allow: ['fd00:ec2::254/128'] }), 'passes')
})

test('the NAT64 prefix, once allowed, still leads only where IPv4 may go', () => {
  const settings = { allow: ['64:ff9b::/96'] }
  assert.equal(judge('64:ff9b::8.8.8.8', settings), 'passes')
  for (const inner of [
    '169.254.169.254',
    '127.0.0.1',
    '10.0.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '100.100.100.200',
  ])
    assert.equal(judge(`64:ff9b::${inner}`, settings), 'a NAT64 address', inner)
  assert.equal(judge('64:ff9b::10.0.0.1', { allow: ['64:ff9b::/96', '10.0.0.0/8'] }), 'passes')
  assert.equal(judge('64:ff9b::10.0.0.1', settings, true), 'a NAT64 address')
})

test('an allowed host name opens the addresses of inner networks and no others', () => {
  for (const address of [
    '127.0.0.1',
    '::1',
    '10.0.0.1',
    '172.18.0.2',
    '192.168.1.1',
    '100.64.0.1',
    'fd00::1',
    '8.8.8.8',
  ])
    assert.equal(judge(address, {}, true), 'passes', address)
  for (const [what, addresses] of special) {
    if (/loopback|private|carrier|unique local/.test(what)) continue
    for (const address of addresses.split(addresses.includes('|') ? '|' : ' '))
      assert.equal(judge(address, {}, true), what, address)
  }
})

test('what is refused by configuration is refused, allowed and public or not', () => {
  const settings = { allow: ['10.0.0.0/8'], refuse: ['10.9.0.0/16', '93.184.216.0/24', '2a00:1450::/32'] }
  for (const address of ['10.9.0.1', '93.184.216.34', '2a00:1450::1'])
    assert.equal(judge(address, settings, true), 'an address that is closed here', address)
  assert.equal(judge('64:ff9b::93.184.216.34', { ...settings, allow: ['64:ff9b::/96'] }), 'a NAT64 address')
  assert.equal(judge('10.8.0.1', settings), 'passes')
})
