import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkUrl } from './check-url.ts'
import type { DnsServer } from './fixtures/dns-server.ts'
import { addressReply, startDnsServer } from './fixtures/dns-server.ts'
import type { GuardSettings } from './guard-rules.ts'
import { readGuardRules } from './guard-rules.ts'
import type { Resolution } from './resolve-target.ts'
import { resolveTarget } from './resolve-target.ts'

const never = new AbortController().signal

function targetOf(url: string, settings: GuardSettings) {
  const verdict = checkUrl(url, readGuardRules(settings))
  assert.ok(verdict.kind === 'target')
  return verdict.target
}

function resolve(dns: DnsServer, settings: GuardSettings = {}, signal = never): Promise<Resolution> {
  const target = targetOf('https://hooks.example/', settings)
  return resolveTarget(target, { rules: readGuardRules(settings), dnsServers: [dns.server] }, signal)
}

const refused = (what: string): Resolution => ({
  kind: 'unreachable',
  reason: 'refused_address',
  detail: `hooks.example leads to ${what}`,
})

const good = ['93.184.216.34', '2606:4700::1111']

test('the addresses of both families are answered, once each', async (t) => {
  const dns = await startDnsServer(t, (question) => addressReply(question, [...good, ...good, '1.1.1.1']))
  assert.deepEqual(await resolve(dns), {
    kind: 'addresses',
    addresses: ['93.184.216.34', '1.1.1.1', '2606:4700::1111'],
  })
  assert.deepEqual(dns.questions.toSorted(), ['A hooks.example', 'AAAA hooks.example'])
})

const bad: [what: string, address: string][] = [
  ['a private address', '10.0.0.1'],
  ['a loopback address', '127.0.0.1'],
  ['a metadata address', '169.254.169.254'],
  ['an unspecified address', '0.0.0.0'],
  ['a loopback address', '::1'],
  ['an unspecified address', '::'],
  ['an IPv4-mapped address', '::ffff:169.254.169.254'],
  ['an IPv4-mapped address', '::ffff:8.8.8.8'],
  ['an IPv4-compatible address', '::169.254.169.254'],
  ['a NAT64 address', '64:ff9b::a9fe:a9fe'],
  ['a 6to4 address', '2002:a9fe:a9fe::1'],
  ['an ISATAP address', '2606:4700::5efe:a9fe:a9fe'],
  ['a unique local address', 'fd12::1'],
  ['a link-local address', 'fe80::1'],
  ['a metadata address', 'fd00:ec2::254'],
]

for (const [what, address] of bad)
  test(`one record ${address} among good ones refuses all, first or last`, async (t) => {
    for (const addresses of [[address], [address, ...good], [...good, address]]) {
      const dns = await startDnsServer(t, (question) => addressReply(question, addresses))
      assert.deepEqual(await resolve(dns), refused(what))
    }
  })

test('a bad record far behind many good ones is seen', async (t) => {
  const many = Array.from({ length: 25 }, (_, index) => `93.184.216.${index}`)
  const dns = await startDnsServer(t, (question) => addressReply(question, [...many, '192.168.0.1']))
  assert.deepEqual(await resolve(dns), refused('a private address'))
})

test('an alias is followed and judged by where it ends', async (t) => {
  const dns = await startDnsServer(t, ({ name, type }) =>
    type === 'A'
      ? [
          { type: 'CNAME', name, data: 'metadata.google.internal' },
          { type: 'A', name: 'metadata.google.internal', data: '169.254.169.254' },
        ]
      : [{ type: 'CNAME', name, data: 'metadata.google.internal' }],
  )
  assert.deepEqual(await resolve(dns), refused('a metadata address'))
})

test('a name that was good is refused as soon as it is bad', async (t) => {
  const dns = await startDnsServer(t, (question, times) =>
    addressReply(question, [times === 0 ? '93.184.216.34' : '10.0.0.1']),
  )
  assert.deepEqual(await resolve(dns), { kind: 'addresses', addresses: ['93.184.216.34'] })
  assert.deepEqual(await resolve(dns), refused('a private address'))
})

test('a name without addresses, and one that is not there, are failures of DNS', async (t) => {
  const expected = { kind: 'unreachable', reason: 'dns', detail: 'hooks.example has no address' }
  for (const reply of [[], 'NXDOMAIN'] as const)
    assert.deepEqual(await resolve(await startDnsServer(t, () => reply)), expected)
})

test('where one of the two questions fails, nothing is answered', async (t) => {
  const dns = await startDnsServer(t, (question) =>
    question.type === 'A' ? addressReply(question, good) : 'SERVFAIL',
  )
  assert.deepEqual(await resolve(dns), {
    kind: 'unreachable',
    reason: 'dns',
    detail: 'the name could not be looked up (ESERVFAIL)',
  })
})

test('a name server that keeps silent is waited for until the signal and no longer', async (t) => {
  const dns = await startDnsServer(t, () => 'silence')
  const stop = new AbortController()
  const waiting = resolve(dns, {}, stop.signal)
  const reason = new Error('enough')
  stop.abort(reason)
  const startedAt = performance.now()
  await assert.rejects(waiting, reason)
  assert.ok(performance.now() - startedAt < 1_500)
  await assert.rejects(resolve(dns, {}, AbortSignal.abort(reason)), reason)
})

test('an address is its own answer, and nobody is asked', async (t) => {
  const dns = await startDnsServer(t, (question) => addressReply(question, good))
  const rules = readGuardRules({})
  for (const [url, host] of [
    ['https://8.8.8.8/', '8.8.8.8'],
    ['https://[2606:4700::1111]/', '2606:4700::1111'],
  ] as const) {
    const answer = await resolveTarget(targetOf(url, {}), { rules, dnsServers: [dns.server] }, never)
    assert.deepEqual(answer, { kind: 'addresses', addresses: [host] })
  }
  assert.deepEqual(dns.questions, [])
})

test('an allowed name may lead into the inner network, but to no metadata service', async (t) => {
  const settings = { allow: ['hooks.example'] }
  const inner = await startDnsServer(t, (question) => addressReply(question, ['10.0.0.1', 'fd00::1']))
  assert.deepEqual(await resolve(inner, settings), { kind: 'addresses', addresses: ['10.0.0.1', 'fd00::1'] })
  const hostile = await startDnsServer(t, (question) =>
    addressReply(question, ['10.0.0.1', '169.254.169.254']),
  )
  assert.deepEqual(await resolve(hostile, settings), refused('a metadata address'))
})

test('an allowed block opens what lies in it, whatever the name', async (t) => {
  const settings = { allow: ['10.1.0.0/16'] }
  const inside = await startDnsServer(t, (question) => addressReply(question, ['10.1.2.3']))
  assert.deepEqual(await resolve(inside, settings), { kind: 'addresses', addresses: ['10.1.2.3'] })
  const beside = await startDnsServer(t, (question) => addressReply(question, ['10.1.2.3', '10.2.0.1']))
  assert.deepEqual(await resolve(beside, settings), refused('a private address'))
})

test('by the system, an allowed name is found in /etc/hosts', async () => {
  const settings = { allow: ['localhost'] }
  const target = targetOf('https://localhost/', settings)
  const resolution = await resolveTarget(target, { rules: readGuardRules(settings) }, never)
  assert.ok(resolution.kind === 'addresses')
  for (const address of resolution.addresses) assert.match(address, /^(?:127\.0\.0\.1|::1)$/)
  await assert.rejects(
    resolveTarget(target, { rules: readGuardRules(settings) }, AbortSignal.abort(new Error('enough'))),
    /enough/,
  )
})
