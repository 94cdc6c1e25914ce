import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { createSender } from './create-sender.ts'
import { addressReply, startDnsServer } from './fixtures/dns-server.ts'
import { startHttp, startHttps } from './fixtures/receiver.ts'
import { authorityFile, identities } from './fixtures/tls-files.ts'
import type { GuardSettings } from './guard-rules.ts'
import { readGuardRules } from './guard-rules.ts'

// How would one reach 169.254.169.254, or anything else inside? Each test is one such way.

const message = { headers: {}, body: Buffer.from('{}') }

/** Every TCP connection that this process begins from now on. */
function watchConnections(t: TestContext): Socket[] {
  const sockets: Socket[] = []
  const note = (event: unknown) => {
    // safe because this channel carries nothing else
    sockets.push((event as { socket: Socket }).socket)
  }
  subscribe('net.client.socket', note)
  t.after(() => unsubscribe('net.client.socket', note))
  return sockets
}

test('the address that was checked is the one that is dialled, even where DNS would say another a moment later', async (t) => {
  const receiver = await startHttp(t, (_, response) => response.end('good'))
  const inner = await startHttp(t, (_, response) => response.end('secret'), {
    host: '127.0.0.2',
    port: receiver.port,
  })
  const dns = await startDnsServer(t, (question, times) =>
    addressReply(question, [times === 0 ? '127.0.0.1' : '127.0.0.2']),
  )
  // 127.0.0.1 plays an address of the world.
  const rules = readGuardRules({ allowHttp: true, ports: [receiver.port], allow: ['127.0.0.1'] })
  const sender = createSender({ rules, dnsServers: [dns.server] })
  const url = `http://hooks.example:${receiver.port}/`
  const first = await sender.post({ url, ...message })
  assert.ok(first.kind === 'answered' && first.body === 'good')
  assert.deepEqual(dns.questions.toSorted(), ['A hooks.example', 'AAAA hooks.example'])
  const second = await sender.post({ url, ...message })
  assert.ok(second.kind === 'unreachable' && second.reason === 'refused_address')
  assert.equal(second.detail, 'hooks.example leads to a loopback address')
  assert.deepEqual([receiver.connectionCount(), inner.connectionCount()], [1, 0])
})

test('a name that is good in one family and bad in the other is not dialled at all', async (t) => {
  const receiver = await startHttp(t, (_, response) => response.end('good'))
  const dns = await startDnsServer(t, (question) =>
    addressReply(question, ['127.0.0.1', '::ffff:169.254.169.254']),
  )
  const rules = readGuardRules({ allowHttp: true, ports: [receiver.port], allow: ['127.0.0.1'] })
  const sender = createSender({ rules, dnsServers: [dns.server] })
  const answer = await sender.post({ url: `http://hooks.example:${receiver.port}/`, ...message })
  assert.ok(answer.kind === 'unreachable' && answer.reason === 'refused_address')
  assert.equal(receiver.connectionCount(), 0)
})

// Rules as generous as somebody with an inner network, a NAT64 gateway and containers might write them.
const generous: GuardSettings = {
  allowHttp: true,
  ports: [80, 443, 8080],
  allow: [
    '10.0.0.0/8',
    '169.254.0.0/16',
    '100.64.0.0/10',
    'fc00::/7',
    'fe80::/10',
    '::/8',
    '64:ff9b::/96',
    'inner',
    'localhost',
    'metadata.google.internal',
  ],
}

const ways = [
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.169.254:80/',
  'http://169.254.169.254./',
  'http://169.254.43518/',
  'http://169.16689662/',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://0xa9.0xfe.0xa9.0xfe/',
  'http://0251.0376.0251.0376/',
  'http://169.254.169.0376/',
  'http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/',
  'http://169。254。169。254/',
  'http://%31%36%39.254.169.254/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[::a9fe:a9fe]/',
  'http://[::ffff:0:a9fe:a9fe]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[64:ff9b:1::a9fe:a9fe]/',
  'http://[2002:a9fe:a9fe::]/',
  'http://[2001:0:a9fe:a9fe::]/',
  'http://[2606:4700::5efe:a9fe:a9fe]/',
  'http://[fe80::5efe:a9fe:a9fe]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::a9fe:a9fe%25eth0]/',
  'http://100.100.100.200/latest/meta-data/',
  'http://8.8.8.8@169.254.169.254/',
  'http://8.8.8.8\\@169.254.169.254/',
  'http://169.254.169.254#.example.com/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://metadata.google.internal./',
  'http://inner/',
  'http://localhost/',
  'http://a-record.example/',
  'http://alias.example/',
  'http://mapped.example/',
  'http://compatible.example/',
  'http://nat64.example/',
  'http://local-nat64.example/',
  'http://six-to-four.example/',
  'http://teredo.example/',
  'http://isatap.example/',
  'http://unspecified.example/',
  'https://mixed.example/',
]

const hostileNames: Readonly<Record<string, readonly string[]>> = {
  'a-record.example': ['169.254.169.254'],
  'mapped.example': ['::ffff:169.254.169.254'],
  'compatible.example': ['::169.254.169.254'],
  'nat64.example': ['64:ff9b::a9fe:a9fe'],
  'local-nat64.example': ['64:ff9b:1:a9fe:a9:fe00::'],
  'six-to-four.example': ['2002:a9fe:a9fe::'],
  'teredo.example': ['2001:0:a9fe:a9fe::'],
  'isatap.example': ['2606:4700::5efe:a9fe:a9fe'],
  'unspecified.example': ['0.0.0.0', '::'],
  'mixed.example': ['8.8.8.8', '2606:4700::1111', '169.254.169.254'],
  inner: ['10.0.0.1', '169.254.169.254'],
  localhost: ['169.254.169.254'],
  'metadata.google.internal': ['169.254.169.254', 'fd20:ce::254'],
}

for (const url of ways)
  test(`${url} begins no connection, under generous rules too`, async (t) => {
    const dns = await startDnsServer(t, (question) =>
      question.name === 'alias.example'
        ? [
            { type: 'CNAME', name: 'alias.example', data: 'x.internal' },
            { type: 'A', name: 'x.internal', data: '169.254.169.254' },
          ]
        : addressReply(question, hostileNames[question.name] ?? []),
    )
    const connections = watchConnections(t)
    for (const settings of [generous, { allowHttp: true }]) {
      const sender = createSender({ rules: readGuardRules(settings), dnsServers: [dns.server] })
      const answer = await sender.post({ url, ...message, deadlineMs: 2_000 })
      assert.ok(answer.kind === 'unreachable', url)
      assert.equal(answer.reason, 'refused_address', answer.detail)
      assert.doesNotMatch(answer.detail, /\d+\.\d+\.\d+\.\d+ *$/)
    }
    assert.equal(connections.length, 0)
  })

test('a redirect to it, in every way that a browser knows, begins no second connection', async (t) => {
  const inside = 'http://169.254.169.254/latest/meta-data/'
  const receiver = await startHttp(t, (_, response) =>
    response
      .writeHead(307, {
        location: inside,
        'content-location': inside,
        refresh: `0; url=${inside}`,
        link: `<${inside}>; rel=preload`,
        'alt-svc': 'h2="169.254.169.254:80"; ma=3600',
        connection: 'keep-alive',
      })
      .end(`<meta http-equiv="refresh" content="0; url=${inside}">`),
  )
  const connections = watchConnections(t)
  const rules = readGuardRules({ allowHttp: true, ports: [receiver.port], allow: ['127.0.0.1'] })
  const url = `http://127.0.0.1:${receiver.port}/`
  const answers = [
    await createSender({ rules }).post({ url, ...message }),
    await createSender({ rules }).post({ url, ...message }),
  ]
  for (const answer of answers) assert.ok(answer.kind === 'answered' && answer.status === 307)
  assert.deepEqual(
    connections.map(({ remotePort }) => remotePort ?? receiver.port),
    [receiver.port, receiver.port],
  )
})

test('of a name with many addresses only the first four are dialled', async (t) => {
  const addresses = Array.from({ length: 20 }, (_, index) => `127.0.0.${index + 1}`)
  const dns = await startDnsServer(t, (question) => addressReply(question, addresses))
  const connections = watchConnections(t)
  const rules = readGuardRules({ allowHttp: true, ports: [1], allow: ['127.0.0.0/8'] })
  const sender = createSender({ rules, dnsServers: [dns.server] })
  const answer = await sender.post({ url: 'http://hooks.example:1/', ...message })
  assert.ok(answer.kind === 'unreachable' && answer.reason === 'connect')
  assert.equal(connections.length, 4)
})

test('an address that swallows packets leaves time for the next one', async (t) => {
  const workerData = new SharedArrayBuffer(8)
  const worker = new Worker(new URL('fixtures/stuck-listener.ts', import.meta.url), { workerData })
  t.after(() => worker.terminate())
  const shared = new Int32Array(workerData)
  await Atomics.waitAsync(shared, 0, 0).value
  const port = Atomics.load(shared, 0)
  const queue = Array.from({ length: 16 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  t.after(() => {
    for (const socket of queue) socket.destroy()
  })
  await Promise.any(queue.map((socket) => once(socket, 'connect')))
  const receiver = await startHttp(t, (_, response) => response.end('second'), { host: '127.0.0.2', port })
  const dns = await startDnsServer(t, (question) => addressReply(question, ['127.0.0.1', '127.0.0.2']))
  const rules = readGuardRules({ allowHttp: true, ports: [port], allow: ['127.0.0.0/8'] })
  const sender = createSender({ rules, dnsServers: [dns.server] })
  const answer = await sender.post({ url: `http://hooks.example:${port}/`, ...message, deadlineMs: 2_000 })
  assert.ok(answer.kind === 'answered' && answer.body === 'second')
  assert.equal(receiver.connectionCount(), 1)
  assert.ok(answer.tookMs > 900 && answer.tookMs < 2_000, String(answer.tookMs))
})

/** Posts from a process with this environment. */
async function postFrom(env: Record<string, string>, url: string, extraCertificate: string[] = []) {
  const script = fileURLToPath(new URL('fixtures/post-once.ts', import.meta.url))
  const args = [script, url, new URL(url).port, ...extraCertificate]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  return JSON.parse(stdout)
}

test('neither a proxy of the environment nor its leave to trust anyone counts', async (t) => {
  const receiver = await startHttp(t, (_, response) => response.end('direct'))
  const secure = await startHttps(t, identities.selfSigned, (_, response) => response.end('trusted'))
  const proxy = await startHttp(t, (_, response) => response.end('through the proxy'))
  const url = `http://127.0.0.1:${proxy.port}`
  const proxies = { HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url, all_proxy: url }
  const env = { NODE_USE_ENV_PROXY: '1', NODE_TLS_REJECT_UNAUTHORIZED: '0', ...proxies }
  assert.equal((await postFrom(env, `http://127.0.0.1:${receiver.port}/`)).body, 'direct')
  assert.equal((await postFrom(env, `https://127.0.0.1:${secure.port}/`)).reason, 'tls')
  assert.equal(proxy.connectionCount(), 0)
})

test('extra authorities are trusted besides those of the machine, not in their place', async (t) => {
  const receiver = await startHttps(t, identities.good, (_, response) => response.end('ok'))
  const env = { NODE_EXTRA_CA_CERTS: authorityFile }
  const url = `https://127.0.0.1:${receiver.port}/`
  assert.equal((await postFrom(env, url)).body, 'ok')
  assert.equal((await postFrom(env, url, [identities.selfSigned.cert])).body, 'ok')
  assert.equal((await postFrom({}, url, [identities.selfSigned.cert])).reason, 'tls')
})
