import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { createSender } from './create-sender.ts'
import { addressReply, startDnsServer } from './fixtures/dns-server.ts'
import type { Receiver } from './fixtures/receiver.ts'
import { startHttp, startHttps, startRaw, startRawTls, startSilent } from './fixtures/receiver.ts'
import { authority, identities } from './fixtures/tls-files.ts'
import { readGuardRules } from './guard-rules.ts'
import type { PostAnswer } from './post.ts'

const message = { headers: { 'webhook-id': 'msg_1' }, body: Buffer.from('{}') }

type Choice = { host?: string; extraCertificates?: readonly string[]; deadlineMs?: number }

async function postTo(t: TestContext, { port }: Receiver, choice: Choice = {}): Promise<PostAnswer> {
  const { host = 'hooks.example', extraCertificates = [authority], deadlineMs = 5_000 } = choice
  const dns = await startDnsServer(t, (question) => addressReply(question, ['127.0.0.1']))
  const rules = readGuardRules({ ports: [port], allow: ['127.0.0.0/8'] })
  const sender = createSender({ rules, dnsServers: [dns.server], extraCertificates })
  return sender.post({ url: `https://${host}:${port}/hook`, deadlineMs, ...message })
}

const tlsFault = (detail: string) => ({ kind: 'unreachable', reason: 'tls', detail })

function outcome({ tookMs, ...rest }: PostAnswer) {
  assert.ok(Number.isInteger(tookMs) && tookMs < 5_000)
  return rest
}

test('a certificate for the name is accepted, and the name is told to the server', async (t) => {
  const seen: unknown[] = []
  const receiver = await startHttps(t, identities.good, (request, response) => {
    const socket = request.socket
    seen.push([request.headers.host, 'servername' in socket && socket.servername])
    response.end('ok')
  })
  for (const host of ['hooks.example', 'a.wild.example', '127.0.0.1'])
    assert.deepEqual(
      outcome(await postTo(t, receiver, { host })),
      { kind: 'answered', status: 200, body: 'ok' },
      host,
    )
  assert.deepEqual(seen, [
    [`hooks.example:${receiver.port}`, 'hooks.example'],
    [`a.wild.example:${receiver.port}`, 'a.wild.example'],
    [`127.0.0.1:${receiver.port}`, false],
  ])
})

for (const host of ['other.example', 'wild.example', 'a.b.wild.example', '127.0.0.2'])
  test(`a certificate that is not for ${host} is refused before anything is said`, async (t) => {
    let requestCount = 0
    const place = { host: host === '127.0.0.2' ? host : '127.0.0.1' }
    const receiver = await startHttps(t, identities.good, () => requestCount++, place)
    const answer = await postTo(t, receiver, { host })
    assert.deepEqual(outcome(answer), tlsFault('its certificate is for another name'))
    assert.equal(requestCount, 0)
  })

const badIdentities: [
  what: string,
  identity: { key: string; cert: string },
  extra: string[],
  detail: string,
][] = [
  ['signed by itself', identities.selfSigned, [authority], 'its certificate is signed by itself'],
  ['expired', identities.expired, [authority], 'its certificate has expired'],
  [
    'of an unknown authority',
    identities.good,
    [],
    'its certificate comes without those that lead to an authority we know',
  ],
]

for (const [what, identity, extraCertificates, detail] of badIdentities)
  test(`a certificate that is ${what} is refused before anything is said`, async (t) => {
    let requestCount = 0
    const receiver = await startHttps(t, identity, () => requestCount++)
    assert.deepEqual(outcome(await postTo(t, receiver, { extraCertificates })), tlsFault(detail))
    assert.equal(requestCount, 0)
  })

test('a server that speaks no TLS, and one that goes in the middle of it', async (t) => {
  const plain = await startRaw(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const answer = await postTo(t, plain)
  assert.ok(answer.kind === 'unreachable' && answer.reason === 'tls')
  assert.match(answer.detail, /^no TLS could be agreed on \(ERR_SSL_[A-Z_]+\)$/)
  const gone = await startRaw(t, (socket) => socket.destroy())
  assert.deepEqual(outcome(await postTo(t, gone)), tlsFault('the connection was reset'))
})

test('a server that never answers the handshake runs into the deadline', async (t) => {
  const receiver = await startSilent(t)
  assert.deepEqual(outcome(await postTo(t, receiver, { deadlineMs: 300 })), {
    kind: 'unreachable',
    reason: 'timeout',
    detail: '300 ms were over while connecting',
  })
  await waitUntil('the server to be hung up on', () => receiver.openCount() === 0)
})

test('an answer over TLS is cut, and broken, as one without', async (t) => {
  const endless = await startHttps(t, identities.good, (_, response) => response.write('x'.repeat(100_000)))
  assert.deepEqual(outcome(await postTo(t, endless)), {
    kind: 'answered',
    status: 200,
    body: 'x'.repeat(4_096),
  })
  const cut = await startRawTls(t, identities.good, (socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'),
  )
  assert.deepEqual(outcome(await postTo(t, cut)), {
    kind: 'unreachable',
    reason: 'broken_off',
    detail: 'the connection was closed in the middle of an answer of status 200',
  })
})

test('a fault of TLS is final: no other address gets to see the message', async (t) => {
  const first = await startHttps(t, identities.selfSigned, (_, response) => response.end())
  const dns = await startDnsServer(t, (question) => addressReply(question, ['127.0.0.1', '127.0.0.2']))
  const rules = readGuardRules({ ports: [first.port], allow: ['127.0.0.0/8'] })
  const sender = createSender({ rules, dnsServers: [dns.server], extraCertificates: [authority] })
  const answer = await sender.post({ url: `https://hooks.example:${first.port}/`, ...message })
  assert.deepEqual(outcome(answer), tlsFault('its certificate is signed by itself'))
})

test('what is no certificate is found when the sender is made', () => {
  const rules = readGuardRules({})
  const refusal = (bad: string) => () => createSender({ rules, extraCertificates: [bad] })
  for (const bad of ['', 'garbage', identities.good.key, authority.slice(0, 200)])
    assert.throws(refusal(bad), { name: 'RangeError', message: 'an extra certificate is not in PEM' })
  const hollow = `-----BEGIN CERTIFICATE-----\n${'A'.repeat(64)}\n-----END CERTIFICATE-----`
  for (const bad of [hollow, authority.replace(/^MII/m, 'MIA')])
    assert.throws(refusal(bad), { code: /^ERR_OSSL_ASN1_/ })
  createSender({ rules, extraCertificates: [`${identities.good.cert}\n${authority}`] })
})

test('https is not spoken to a port by way of http', async (t) => {
  const plain = await startHttp(t, (_, response) => response.end('plain'))
  const answer = await postTo(t, plain, { host: '127.0.0.1' })
  assert.ok(answer.kind === 'unreachable' && answer.reason === 'tls')
})
