import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBadServer, startDrippingServer, startRawServer } from './fixtures/bad-server.ts'
import { openTool } from './fixtures/run-tool.ts'

// In the sandbox, on the network of the engine's host: from the network for tools nothing on the host can be reached,
// and that is where the servers of the tests are.

const settings = { allow_private_addresses: true }

/** The status and body of an answer are in `data`; what is asserted of them is their whole. */
const dataOf = (data: unknown): Record<string, unknown> => Object.fromEntries(Object.entries(data ?? {}))

test('an answer is told with its status and headers, JSON as an outline', async (t) => {
  const { origin } = await startBadServer(t)
  const tool = await openTool(t, 'http_get', { network: 'host' })
  const found = await tool.succeed({ url: `${origin}/json` }, { settings })
  assert.equal(
    found.text,
    `HTTP 200 OK from ${origin}/json\napplication/json, 37 bytes\n\nname: Ada\ntags:\n  - x\n  - y\nn: 1`,
  )
  assert.deepEqual(dataOf(found.data)['json'], { name: 'Ada', tags: ['x', 'y'], n: 1 })
  const missing = await tool.succeed({ url: `${origin}/missing` }, { settings })
  assert.match(missing.text, /^HTTP 404 Not Found .*\ntext\/plain, 8 bytes\n\nnot here$/)
  const binary = await tool.succeed({ url: `${origin}/binary` }, { settings })
  assert.match(binary.text, /image\/png, 3 bytes\nThe body is not text/)
  const deep = await tool.succeed({ url: `${origin}/deep` }, { settings })
  assert.equal(typeof dataOf(deep.data)['body'], 'string')
  const half = await tool.succeed({ url: `${origin}/half-character` }, { settings })
  assert.match(half.text, /\n\nhalf: \?$/)
})

test('a long body is read on at an offset', async (t) => {
  const { origin } = await startBadServer(t)
  const tool = await openTool(t, 'http_get', { network: 'host' })
  const first = await tool.succeed({ url: `${origin}/long` }, { settings })
  assert.match(first.text, /Characters 0 to 2600 of 90000 follow; for more set offset to 2600\.\n\n0123/)
  const last = await tool.succeed({ url: `${origin}/long`, offset: 89_995 }, { settings })
  assert.match(last.text, /90000 bytes\n\n56789$/)
})

test('redirects are followed on the same host only, unless asked for, and never for ever', async (t) => {
  const { origin, asked } = await startBadServer(t)
  const tool = await openTool(t, 'http_get', { network: 'host' })
  const hop = await tool.succeed({ url: `${origin}/hop` }, { settings })
  assert.deepEqual(dataOf(hop.data)['redirects'], [`${origin}/json`])
  const stayed = await tool.succeed({ url: `${origin}/hop`, follow_redirects: 'none' }, { settings })
  assert.equal(dataOf(stayed.data)['redirect'], `${origin}/json`)

  const elsewhere = `${origin.replace('127.0.0.1', 'localhost')}/echo`
  const away = await tool.succeed({ url: `${origin}/away` }, { settings })
  assert.match(
    away.text,
    /^HTTP 302 Found .*\n.*\nIt redirects to http:\/\/localhost:\d+\/echo, which was not followed/,
  )
  assert.ok(!asked.some((line) => line.startsWith('localhost')))

  const headers = { Authorization: 'Bearer secret', 'X-Kept': 'yes' }
  const followed = await tool.succeed(
    { url: `${origin}/away`, follow_redirects: 'any', headers },
    { settings },
  )
  assert.equal(dataOf(followed.data)['url'], elsewhere)
  const sent = dataOf(dataOf(followed.data)['json'])
  assert.equal(sent['authorization'], undefined)
  assert.equal(sent['x-kept'], 'yes')

  const loop = await tool.fail({ url: `${origin}/loop` }, { settings })
  assert.match(loop.message, /redirects more than 5 times/)
  assert.equal(loop.failure_class, 'external')
  assert.equal(asked.filter((line) => line.endsWith('/loop')).length, 6)
  const file = await tool.fail({ url: `${origin}/to-file`, follow_redirects: 'any' }, { settings })
  assert.match(file.message, /redirects to an address that is not fetched: Only addresses that begin/)
})

test('a body without end and a bomb are cut, and that is said', async (t) => {
  const { origin } = await startBadServer(t)
  const tool = await openTool(t, 'http_get', { network: 'host' })
  const huge = await tool.succeed({ url: `${origin}/huge` }, { settings })
  assert.match(huge.text, /Only a part of the body came: more than 2000000 bytes are not read\./)
  const bomb = await tool.succeed({ url: `${origin}/bomb` }, { settings })
  assert.match(bomb.text, /Only a part of the body came: more than 4000000 bytes are not read\./)
  assert.equal(dataOf(bomb.data)['bytes'], 4_000_000)
})

test('what is badly packed or encoded is told as it is', async (t) => {
  const { origin } = await startBadServer(t)
  const tool = await openTool(t, 'http_get', { network: 'host' })
  const bodyOf = async (path: string) => (await tool.succeed({ url: `${origin}${path}` }, { settings })).text
  assert.match(await bodyOf('/half-gzip'), /compressed data that ends too early\.\n/)
  assert.match(await bodyOf('/raw-deflate'), /\n\ninflated$/)
  assert.match(await bodyOf('/latin'), /\n\ncafé$/)
  assert.match(await bodyOf('/bad-charset'), /the encoding 'zip' is not known; UTF-8 was taken\.\n\nwords$/)
  for (const [path, message] of [
    ['/not-gzip', /sent compressed data that cannot be unpacked/],
    ['/brotli', /packed the page as 'br', which was not asked for/],
  ] as const) {
    const failure = await tool.fail({ url: `${origin}${path}` }, { settings })
    assert.match(failure.message, message)
    assert.equal(failure.failure_class, 'external')
  }
})

test('lengths that are wrong neither hang nor pass unseen', async (t) => {
  const tool = await openTool(t, 'http_get', { network: 'host' })
  const answer = (length: string, body: string) =>
    `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${length}\r\n\r\n${body}`
  const short = await startRawServer(t, answer('500', 'abc'), true)
  assert.match(
    (await tool.succeed({ url: short }, { settings })).text,
    /sent less than it announced\.\n\nabc$/,
  )
  const long = await startRawServer(t, answer('3', 'abcdef'), false)
  assert.match((await tool.succeed({ url: long }, { settings })).text, /3 bytes\n\nabc$/)
  const endless = await startRawServer(t, answer('3', 'ab'), false)
  const waited = await tool.succeed({ url: endless, timeout_seconds: 1 }, { settings })
  assert.match(waited.text, /the time for it ran out\.\n\nab$/)
  const chunked =
    'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz'
  const broken = await startRawServer(t, chunked, true)
  assert.match((await tool.succeed({ url: broken }, { settings })).text, /the server broke off\.\n\nabc$/)
})

test('a server that drips ends with the time given, in its headers as in its body', async (t) => {
  const tool = await openTool(t, 'http_get', { network: 'host' })
  const body = await startDrippingServer(t, 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n')
  const cut = await tool.succeed({ url: body, timeout_seconds: 1 }, { settings })
  assert.match(cut.text, /the time for it ran out\.\n\nx+$/)
  const head = await startDrippingServer(t, 'HTTP/1.1 200 OK\r\nX-Slow: ')
  const failure = await tool.fail({ url: head, timeout_seconds: 1 }, { settings })
  assert.match(failure.message, /^No complete answer came from 127\.0\.0\.1 within 1\.0 seconds\.$/)
  assert.equal(failure.failure_class, 'external')
})

test('what is no HTTP, and nobody there, are failures of others', async (t) => {
  const tool = await openTool(t, 'http_get', { network: 'host' })
  const noise = await startRawServer(t, 'SSH-2.0-OpenSSH_9.2\r\n', true)
  const failure = await tool.fail({ url: noise }, { settings })
  assert.match(failure.message, /did not answer in HTTP/)
  assert.equal(failure.failure_class, 'external')
  const tls = await tool.fail({ url: noise.replace('http:', 'https:') }, { settings })
  assert.match(tls.message, /No encrypted connection/)
  const refused = await tool.fail({ url: 'http://127.0.0.1:1/' }, { settings })
  assert.deepEqual(
    [refused.message, refused.failure_class],
    ['127.0.0.1 refused the connection.', 'external'],
  )
})

test('addresses that are not public are refused, however they are written', async (t) => {
  const { origin, asked } = await startBadServer(t)
  const tool = await openTool(t, 'http_get', { network: 'host' })
  const port = new URL(origin).port
  const hosts = [
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0.0.0.0',
    '169.254.169.254',
    '10.0.0.1',
    '100.64.0.1',
    '[fd00::1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
  ]
  for (const host of hosts) {
    const { message, failure_class } = await tool.fail({ url: `http://${host}:${port}/json` })
    assert.match(message, /an address that is not public\.|could not be looked up/, host)
    if (!message.includes('looked up')) assert.equal(failure_class, 'internal', host)
  }
  assert.deepEqual(asked, [])
})

test('what is no address of the web, and headers of the connection, are refused before anything is sent', async (t) => {
  const { origin, asked } = await startBadServer(t)
  const tool = await openTool(t, 'http_get', { network: 'host' })
  const urls: [string, RegExp][] = [
    ['file:///etc/passwd', /begin with http/],
    ['gopher://example.com/', /begin with http/],
    ['example.com', /begin with http/],
    ['http://', /names no host/],
    ['http://user:pass@example.com/', /user name or a password/],
    ['http://example.com:99999/', /not valid/],
    ['http://exa mple.com/', /a space/],
    [`${origin}/a\r\nX: y`, /control character/],
    [`http://${'a'.repeat(5_000)}.com/`, /more than 4096/],
    ['http://ex_ample!.com/', /not the name of a host/],
    ['http://[::1/', /not valid/],
  ]
  for (const [url, message] of urls)
    assert.match((await tool.fail({ url }, { settings })).message, message, url)
  for (const [name, value] of [
    ['Host', 'evil.example'],
    ['Content-Length', '10'],
    ['X-Split', 'a\r\nEvil: yes'],
    ['X Space', 'a'],
  ] as const)
    assert.match(
      (await tool.fail({ url: `${origin}/echo`, headers: { [name]: value } }, { settings })).message,
      /header/i,
    )
  assert.deepEqual(asked, [])
})
