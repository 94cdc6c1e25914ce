import assert from 'node:assert/strict'
import { test } from 'node:test'
import { egressAllow } from '@toolyard/config/egress-allow'
import { egressRules } from './egress-rules.ts'
import { networkNames } from './network-names.ts'

const plain = {
  table: 'toolyard_0123456789',
  bridge: 'ty-0123456789',
  subnet: '198.18.4.0/22',
  allow: [],
  resolvers: [],
  closedLinks: [],
}

test('the filter drops all that goes to the host, to other containers and to addresses that are not public', () => {
  assert.equal(
    egressRules(plain),
    `table inet toolyard_0123456789
delete table inet toolyard_0123456789
table inet toolyard_0123456789 {
  set refused {
    type ipv4_addr
    flags interval
    elements = { 0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 168.63.129.16/32, 169.254.0.0/16, 172.16.0.0/12, 192.0.0.0/24, 192.168.0.0/16, 198.18.0.0/15, 224.0.0.0/3 }
  }

  chain input {
    type filter hook input priority filter - 10; policy accept;
    iifname "ty-0123456789" jump to_host
  }

  chain to_host {
    drop
  }

  chain forward {
    type filter hook forward priority filter - 10; policy accept;
    iifname "ty-0123456789" jump from_tools
    oifname "ty-0123456789" ct state established,related accept
    oifname "ty-0123456789" drop
  }

  chain from_tools {
    oifname "ty-0123456789" drop
    meta nfproto != ipv4 drop
    ip saddr != 198.18.4.0/22 drop
    ip daddr @refused drop
    ct status dnat drop
  }

  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    oifname != "ty-0123456789" ip saddr 198.18.4.0/22 masquerade
  }
}
`,
  )
})

test('exceptions come before the drops, and open the host only by one address and one port', () => {
  const allow = egressAllow().parse('10.0.0.5/32:5432,10.0.0.6,10.1.0.0/16:80')
  const chains = chainsOf(egressRules({ ...plain, allow, resolvers: ['10.0.0.2'] }))
  assert.deepEqual(chains['to_host'], [
    'ip saddr 198.18.4.0/22 ip daddr 10.0.0.5/32 meta l4proto { tcp, udp } th dport 5432 accept',
    'drop',
  ])
  assert.deepEqual(chains['from_tools'], [
    'oifname "ty-0123456789" drop',
    'meta nfproto != ipv4 drop',
    'ip saddr != 198.18.4.0/22 drop',
    'ip daddr 10.0.0.5/32 meta l4proto { tcp, udp } th dport 5432 accept',
    'ip daddr 10.0.0.6/32 accept',
    'ip daddr 10.1.0.0/16 meta l4proto { tcp, udp } th dport 80 accept',
    'ip daddr 10.0.0.2 meta l4proto { tcp, udp } th dport 53 accept',
    'ip daddr @refused drop',
    'ct status dnat drop',
  ])
})

test('links that did not forward before stay closed to each other', () => {
  const chains = chainsOf(egressRules({ ...plain, closedLinks: ['eth0', 'wlan0'] }))
  assert.equal(chains['forward']?.at(-1), 'iifname { "eth0", "wlan0" } oifname { "eth0", "wlan0" } drop')
})

test('names fit a link and differ between installations, also for ids that are long', () => {
  const ids = ['0123456789', 'a-long-name-of-a-test-1', 'a-long-name-of-a-test-2']
  const names = ids.map(networkNames)
  assert.deepEqual(names[0], {
    network: 'toolyard-0123456789',
    bridge: 'ty-0123456789',
    table: 'toolyard_0123456789',
  })
  for (const { bridge, table } of names) {
    assert.ok(bridge.length <= 15, bridge)
    assert.match(table, /^toolyard_[a-z0-9]+$/)
  }
  assert.equal(new Set(names.map(({ bridge }) => bridge)).size, ids.length)
})

function chainsOf(text: string): Record<string, string[]> {
  const blocks = [...text.matchAll(/^ {2}chain (\w+) \{\n(.*?)^ {2}\}/gms)]
  return Object.fromEntries(
    blocks.map(([, name = '', body = '']) => [
      name,
      body
        .trim()
        .split('\n')
        .map((line) => line.trim()),
    ]),
  )
}
