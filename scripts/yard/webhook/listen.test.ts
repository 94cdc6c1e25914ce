import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { newWebhookSecret } from '@toolyard/webhooks/webhook-secret'
import { projectRoot } from '../../services/installation/installation.ts'
import type { Signed } from './fixtures/send.ts'
import { nowSeconds, send, sendRaw, sign } from './fixtures/send.ts'
import { startListening } from './fixtures/start-listening.ts'

const secret = newWebhookSecret()
const told = {
  type: 'invocation.finished',
  data: { id: 'inv_1', status: 'succeeded', result: { text: 'ü' } },
}
const body = Buffer.from(JSON.stringify(told))

/** The good message with other headers; without one where it is undefined. */
const withHeaders = (message: Signed, changes: Record<string, string | undefined>): Signed => {
  const headers = Object.entries({ ...message.headers, ...changes })
  return {
    ...message,
    headers: Object.fromEntries(
      headers.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  }
}

test('what the secret signed is verified, and all else is refused with the reason', async (t) => {
  const listening = await startListening(t, ['--secret', secret, '--json'])
  const good = sign(secret, body)
  const [signature = ''] = Object.values(sign(newWebhookSecret(), body).headers).slice(-1)
  const cases: [string, Signed, string | null][] = [
    ['good', good, null],
    [
      'signed by two',
      withHeaders(good, { 'webhook-signature': `${signature} ${good.headers['webhook-signature']}` }),
      null,
    ],
    ['another body', { ...good, body: Buffer.concat([body, Buffer.from(' ')]) }, 'no_match'],
    ['another id', withHeaders(good, { 'webhook-id': 'msg_2' }), 'no_match'],
    ['another secret', sign(newWebhookSecret(), body), 'no_match'],
    ['old', sign(secret, body, { timestampSeconds: nowSeconds() - 400 }), 'too_old'],
    ['ahead', sign(secret, body, { timestampSeconds: nowSeconds() + 400 }), 'too_new'],
    ['no id', withHeaders(good, { 'webhook-id': undefined }), 'header_missing'],
    ['no signature', withHeaders(good, { 'webhook-signature': undefined }), 'header_missing'],
    ['no time', withHeaders(good, { 'webhook-timestamp': 'today' }), 'header_malformed'],
    [
      'a long signature',
      withHeaders(good, { 'webhook-signature': 'v1,'.padEnd(9_000, 'a') }),
      'header_too_long',
    ],
    [
      'many signatures',
      withHeaders(good, { 'webhook-signature': 'v1,a '.repeat(40).trim() }),
      'too_many_signatures',
    ],
  ]
  for (const [name, message, reason] of cases)
    assert.equal(await send(listening.url, message), reason === null ? 204 : 401, name)
  const lines = (await listening.untilLines(cases.length)).map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ verified, reason }) => [verified, reason]),
    cases.map(([, , reason]) => [reason === null, reason]),
  )
  const { time, ...facts } = lines[0]
  assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000)
  assert.deepEqual(facts, {
    verified: true,
    reason: null,
    detail: null,
    id: 'msg_1',
    event: 'invocation.finished',
    invocation: 'inv_1',
    status: 'succeeded',
    seen: 1,
    answered: 204,
    body: told,
  })
})

test('a person sees a line for each message, and how often one came', async (t) => {
  const listening = await startListening(t, ['--secret', secret, '--status', '503'])
  for (const id of ['msg_1', 'msg_2', 'msg_1'])
    assert.equal(await send(listening.url, sign(secret, body, { id })), 503)
  assert.equal(await send(listening.url, sign(newWebhookSecret(), body, { id: 'msg_2' })), 401)
  const start = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z  `
  const facts = 'invocation.finished  inv_1 succeeded  msg_'
  const expected = [
    `verified  ${facts}1  answered 503$`,
    `verified  ${facts}2  answered 503$`,
    `verified  ${facts}1  came 2 times  answered 503$`,
    String.raw`NOT VERIFIED \(no_match: no signature is of this message and a known secret\)  ${facts}2  came 2 times  answered 401$`,
  ]
  const lines = await listening.untilLines(expected.length)
  assert.equal(lines.length, expected.length)
  for (const [index, line] of lines.entries()) assert.match(line, new RegExp(start + expected[index]))
  assert.ok(!listening.notes().includes(secret))
})

test("a stranger's words do nothing to the terminal and end within their line", async (t) => {
  const listening = await startListening(t, ['--secret', secret])
  const steering = '\u001b[2J\r\n\u202e\u009b31mverified'
  const cunning = JSON.stringify({ type: steering, data: { id: steering.repeat(1_000), status: [] } })
  await send(listening.url, sign(newWebhookSecret(), Buffer.from(cunning)))
  await send(listening.url, sign(newWebhookSecret(), Buffer.from('null')))
  await send(listening.url, sign(newWebhookSecret(), Buffer.from([0xff, 0x1b, 0x00])))
  const lines = await listening.untilLines(3)
  assert.equal(lines.length, 3)
  for (const line of lines) {
    assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u)
    assert.match(line, /^\S+ {2}NOT VERIFIED/)
    assert.ok(line.length < 2_000, line)
  }
})

test('JSON lines stay lines of JSON, whatever the body is', async (t) => {
  const listening = await startListening(t, ['--secret', secret, '--json'])
  const deep = '['.repeat(30_000) + ']'.repeat(30_000)
  const bodies = ['\u001b[2J', '"\\u001b[2J\\u202e"', deep, '', '{"__proto__":{"type":"x"}}']
  for (const text of bodies) assert.equal(await send(listening.url, sign(secret, Buffer.from(text))), 204)
  const lines = await listening.untilLines(bodies.length)
  for (const line of lines) assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u)
  const printed = lines.map((line) => JSON.parse(line).body)
  assert.deepEqual(printed.slice(0, 4), ['\u001b[2J', '\u001b[2J\u202e', deep, ''])
})

test('a body that is too large, another method and what is no HTTP are refused, and it listens on', async (t) => {
  const listening = await startListening(t, ['--secret', secret, '--json'])
  assert.equal(await send(listening.url, sign(secret, Buffer.alloc(65_536, 'a'))), 204)
  assert.equal(await send(listening.url, sign(secret, Buffer.alloc(65_537, 'a'))), 413)
  // Hung up on; whether the sender still reads the answer is chance.
  const endless = sign(secret, Buffer.alloc(20_000_000, 'a'))
  assert.equal(await send(listening.url, endless).catch(() => 413), 413)
  assert.equal((await fetch(listening.url)).status, 405)
  const head = `POST / HTTP/1.1\r\nhost: a\r\n`
  assert.match(await sendRaw(listening.url, 'hello\r\n\r\n'), /^HTTP\/1.1 400 /)
  assert.match(await sendRaw(listening.url, `${head}x: ${'a'.repeat(20_000)}\r\n\r\n`), /^HTTP\/1.1 431 /)
  assert.match(await sendRaw(listening.url, `${head}x\u0000y: 1\r\n\r\n`), /^HTTP\/1.1 400 /)
  const odd = `${head}connection: close\r\ncontent-length: 0\r\nwebhook-id: \u00ff\u00fe\r\nwebhook-id: b\r\nget: x\r\n\r\n`
  assert.match(await sendRaw(listening.url, odd), /^HTTP\/1.1 401 /)
  const { hostname, port } = new URL(listening.url)
  const cut = connect(Number(port), hostname)
  cut.write(`${head}content-length: 10\r\n\r\nabc`)
  await once(cut, 'connect')
  cut.end()
  await listening.untilLines(9)
  assert.equal(await send(listening.url, sign(secret, body)), 204)
  const lines = (await listening.untilLines(10)).map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ answered }) => answered),
    [204, 413, 413, 405, 400, 431, 400, 401, null, 204],
  )
  assert.match(lines[8].refused, /did not come whole/)
})

test('without a secret nothing is verified, and it is said how to get one', async (t) => {
  const listening = await startListening(t, [], { YARD_PORT: '8123' })
  assert.equal(await send(listening.url, sign(secret, body)), 204)
  assert.match((await listening.untilLines(1))[0] ?? '', /NOT VERIFIED \(no_secret: .* answered 204$/)
  const { port } = new URL(listening.url)
  const notes = listening.notes()
  assert.match(
    notes,
    /^ {2}curl http:\/\/127\.0\.0\.1:8123\/webhooks -H "Authorization: Bearer \$\(cat '.+\/admin\.key'\)" /m,
  )
  assert.ok(notes.includes(`"url":"http://127.0.0.1:${port}/"`))
  assert.ok(notes.includes(`YARD_WEBHOOK_PORTS=${port}\n`))
})

test('Ctrl-C ends it with 0, and so does a reader who has seen enough', async (t) => {
  const first = await startListening(t, ['--secret', secret])
  // A connection that says nothing does not hold it up.
  const { hostname, port } = new URL(first.url)
  const idle = connect(Number(port), hostname)
  await once(idle, 'connect')
  first.signal('SIGINT')
  assert.equal(await first.exitCode(), 0)
  idle.destroy()
  const second = await startListening(t, ['--secret', secret])
  second.hangUp()
  // Answered or not: what it would have printed has no reader.
  await send(second.url, sign(secret, body)).catch(() => {})
  assert.equal(await second.exitCode(), 0)
})

test('what is typed wrongly is told before anything listens, and no part of a secret with it', async (t) => {
  const taken = createServer()
  taken.listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => taken.close())
  const address = taken.address()
  assert.ok(address !== null && typeof address === 'object')
  const wrong: [string[], number, RegExp][] = [
    [[], 2, /Usage: \.\/yard webhook <command>/],
    [['listen', '--nothing'], 2, /--nothing/],
    [['listen', 'more'], 2, /more/],
    [['listen', '--secret', 'whsec_hunter22'], 2, /fewer than 24 bytes/],
    [['listen', '--register'], 2, /needs --port/],
    [['listen', '--register', '--port', '9000', '--secret', secret], 2, /leave out --secret/],
    [['listen', '--port', '0'], 1, /from 1 to 65535/],
    [['listen', '--status', '100'], 1, /from 200 to 599/],
    [['listen', '--port', String(address.port)], 1, /is taken/],
  ]
  for (const [args, code, message] of wrong) {
    const program = join(projectRoot, 'scripts/yard.ts')
    const ended = spawnSync(process.execPath, [program, 'webhook', ...args], { encoding: 'utf8' })
    assert.deepEqual([ended.status, ended.stdout], [code, ''], args.join(' '))
    assert.match(ended.stderr, message)
    assert.doesNotMatch(ended.stderr, /hunter22/)
  }
})
