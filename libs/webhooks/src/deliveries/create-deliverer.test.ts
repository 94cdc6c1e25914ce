import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { callBy, makeGround, nobody } from '../../fixtures/ground.ts'
import type { Arrival, Behaviour } from '../../fixtures/receiver.ts'
import { answer, startReceiver } from '../../fixtures/receiver.ts'
import { startRaw } from '../guard/fixtures/receiver.ts'
import { verifyWebhook } from '../signing/verify-webhook.ts'
import { parseWebhookSecret } from '../signing/webhook-secret.ts'
import { changeWebhook } from '../endpoints/change-webhook.ts'
import { renewCallbackSecret } from '../endpoints/callback-secret.ts'
import { createDeliverer } from './create-deliverer.ts'
import { getDelivery } from './list-deliveries.ts'

const ground = await makeGround()
const { pool, vault, rules } = ground
const owner = callBy(ground.key)

beforeEach(() => ground.clear())

/** A webhook, its receiver, and a delivery that waits for its first try. */
async function prepare(t: Parameters<typeof startReceiver>[0], behave?: Behaviour) {
  const receiver = await startReceiver(t, behave)
  const { webhook, secret } = await ground.addWebhook(receiver.url)
  const id = await ground.endOneFor(webhook)
  return { receiver, webhook, secret, id }
}

async function triesOf(id: string) {
  const { tries } = await getDelivery(pool, owner.actor, id)
  return tries.map(({ status, fault, answer: answered }) => ({ status, fault, answer: answered }))
}

function headersOf({ headers }: Arrival) {
  const pick = (name: string) => {
    const value = headers[name]
    assert.ok(typeof value === 'string', name)
    return value
  }
  return {
    'webhook-id': pick('webhook-id'),
    'webhook-timestamp': pick('webhook-timestamp'),
    'webhook-signature': pick('webhook-signature'),
  }
}

/** Whether our verification and the two of others take it; they must agree. */
function isVerified(arrival: Arrival, secret: string): boolean {
  const { body } = arrival
  const parsed = parseWebhookSecret(secret)
  assert.ok('key' in parsed)
  const ours = verifyWebhook(
    { headers: headersOf(arrival), body },
    { keys: [parsed.key], now: new Date() },
  ).ok
  const takes = (verify: () => unknown) => {
    try {
      verify()
      return true
    } catch {
      return false
    }
  }
  const standard = takes(() => new StandardWebhook(secret).verify(body.toString(), headersOf(arrival)))
  const svix = takes(() => new SvixWebhook(secret).verify(body.toString(), headersOf(arrival)))
  assert.deepEqual([standard, svix], [ours, ours])
  return ours
}

test('a message arrives, is verified by the reference libraries, and says what ended', async (t) => {
  const { receiver, secret, id } = await prepare(t)
  assert.deepEqual(await ground.deliver(id), { kind: 'done' })
  const [arrival] = receiver.arrivals
  assert.ok(arrival)
  assert.ok(isVerified(arrival, secret))
  assert.equal(arrival.headers['webhook-id'], id)
  assert.equal(arrival.headers['content-type'], 'application/json')
  const { type, timestamp, data } = JSON.parse(arrival.body.toString())
  assert.equal(type, 'invocation.finished')
  assert.equal(new Date(timestamp).toISOString(), timestamp)
  assert.deepEqual([data.tool, data.topic, data.status], ['weather', 'trip', 'succeeded'])
  assert.deepEqual(data.result, { title: null, text: 'sunny', truncated: false })
  assert.equal(data.links.self, `/invocations/${data.id}`)
  assert.equal((await ground.stateOf(id)).status, 'delivered')
  assert.deepEqual(await triesOf(id), [{ status: 204, fault: null, answer: '' }])
  const altered = { ...arrival, body: Buffer.from(arrival.body.toString().replace('sunny', 'rainy')) }
  assert.equal(isVerified(altered, secret), false)
})

test('every try of a message has the same id and the same bytes', async (t) => {
  const { receiver, webhook, secret, id } = await prepare(t, (response, _, n) =>
    response.writeHead(n < 2 ? 500 : 200).end(),
  )
  const { tries } = await ground.stateOf(id)
  assert.equal(tries, 0)
  await ground.deliver(id)
  await pool.query(
    'update invocations set feedback = 1, reward = -1 where id = (select invocation_id from deliveries where id = $1)',
    [id],
  )
  await ground.due(id)
  await changeWebhook({ vault, rules }, owner, webhook.id, { description: 'another' })
  await ground.deliver(id)
  await ground.due(id)
  await ground.deliver(id)
  assert.equal(receiver.arrivals.length, 3)
  assert.ok(receiver.arrivals.every((arrival) => isVerified(arrival, secret)))
  assert.equal(new Set(receiver.arrivals.map(({ headers }) => headers['webhook-id'])).size, 1)
  assert.equal(new Set(receiver.arrivals.map(({ body }) => body.toString())).size, 1)
  assert.deepEqual(
    (await triesOf(id)).map(({ status }) => status),
    [500, 500, 200],
  )
})

test('while a secret is rotated both sign, for a day; a second rotation keeps the first secret too', async (t) => {
  const { receiver, webhook, secret: first } = await prepare(t)
  const send = async () => {
    await ground.deliver(await ground.endOneFor(webhook))
    const arrival = receiver.arrivals.at(-1)
    assert.ok(arrival)
    return (secret: string) => isVerified(arrival, secret)
  }
  const rotate = async () => {
    const changed = await changeWebhook({ vault, rules }, owner, webhook.id, { rotate_secret: true })
    assert.ok(changed.secret !== undefined)
    return changed.secret
  }
  const second = await rotate()
  const during = await send()
  assert.deepEqual([during(first), during(second)], [true, true])
  const third = await rotate()
  const twice = await send()
  assert.deepEqual([first, second, third].map(twice), [true, true, true])
  const header = receiver.arrivals.at(-1)?.headers['webhook-signature']
  assert.ok(typeof header === 'string' && header.split(' ').length === 3)
  await pool.query("update webhooks set rotated_until = clock_timestamp() - interval '1 ms'")
  const afterwards = await send()
  assert.deepEqual([first, second, third].map(afterwards), [false, false, true])
})

test("a callback is signed with the caller's own secret, in a rotation with both", async (t) => {
  const receiver = await startReceiver(t)
  ground.allowPort(receiver.port)
  const caller = await ground.makeKey()
  const { secret: first } = await renewCallbackSecret(vault, callBy(caller))
  const { secret: foreign } = await renewCallbackSecret(vault, owner)
  const tell = async () => {
    const { told } = await ground.endOne({ keyId: caller.id, callbackUrl: receiver.url })
    assert.ok(told[0])
    await ground.deliver(told[0])
    const arrival = receiver.arrivals.at(-1)
    assert.ok(arrival)
    return (secret: string) => isVerified(arrival, secret)
  }
  const before = await tell()
  assert.deepEqual([before(first), before(foreign)], [true, false])
  const { secret: second } = await renewCallbackSecret(vault, callBy(caller))
  const during = await tell()
  assert.deepEqual([during(first), during(second)], [true, true])
  await pool.query("update callback_secrets set rotated_until = clock_timestamp() - interval '1 ms'")
  const afterwards = await tell()
  assert.deepEqual([afterwards(first), afterwards(second)], [false, true])
})

test('without a secret nothing is sent, and it is tried again', async (t) => {
  const { receiver, id } = await prepare(t)
  await pool.query('delete from vault_settings')
  const delivered = await ground.deliver(id)
  assert.equal(delivered.kind, 'again')
  assert.equal(receiver.arrivals.length, 0)
  assert.deepEqual(await triesOf(id), [
    { status: null, fault: 'there is no secret to sign it with', answer: null },
  ])
})

for (const [what, behave, tried, againMs] of [
  ['500', answer(500, {}, 'oops'), { status: 500, fault: 'it answered 500', answer: 'oops' }, 5_000],
  ['404', answer(404), { status: 404, fault: 'it answered 404', answer: '' }, 5_000],
  [
    '429 with Retry-After',
    answer(429, { 'retry-after': '77' }),
    { status: 429, fault: 'it answered 429', answer: '' },
    77_000,
  ],
  [
    'a redirect',
    answer(307, { location: 'REDIRECT' }),
    { status: 307, fault: 'it answered 307: redirects are not followed', answer: '' },
    5_000,
  ],
] as const)
  test(`a receiver that answers ${what} is tried again`, async (t) => {
    const other = await startReceiver(t)
    ground.allowPort(other.port)
    const { receiver, id } = await prepare(t, (response, arrival, n) => {
      if (what !== 'a redirect') behave(response, arrival, n)
      else response.writeHead(307, { location: other.url }).end()
    })
    assert.deepEqual(await ground.deliver(id), { kind: 'again', againMs })
    assert.deepEqual(await triesOf(id), [tried])
    assert.equal(receiver.arrivals.length, 1)
    assert.equal(other.arrivals.length, 0)
    const state = await ground.stateOf(id)
    assert.deepEqual([state.status, state.tries], ['waiting', 1])
    assert.ok(Math.abs(state.due_in_s - againMs / 1_000) < 3)
    // Its job may come early: the row knows.
    const early = await ground.deliver(id)
    assert.ok(againMs > 60_000 ? early.kind === 'done' : early.kind === 'again')
    assert.equal(receiver.arrivals.length, 1)
  })

test('a receiver that is down, or cuts the connection in the middle, is tried again', async (t) => {
  const { port } = await startRaw(t, (socket) => socket.destroy())
  const half = await startRaw(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', () => socket.destroy())
  })
  for (const [at, fault] of [
    [port, /^broken_off: the connection was/],
    [half.port, /^broken_off: .*in the middle of an answer of status 200$/],
    [1, /^connect: /],
  ] as const) {
    const { webhook } = await ground.addWebhook(`http://127.0.0.1:${at}/in`)
    const id = await ground.endOneFor(webhook)
    assert.equal((await ground.deliver(id)).kind, 'again')
    const [tried] = await triesOf(id)
    assert.match(tried?.fault ?? '', fault)
    assert.deepEqual([tried?.status, tried?.answer], [null, null])
    await pool.query('delete from webhooks')
  }
})

test('a receiver that never answers is let go at the deadline', async (t) => {
  const { id } = await prepare(t, () => {})
  const { sender } = ground.deps
  const hasty: typeof ground.deps = {
    ...ground.deps,
    sender: { post: (request) => sender.post({ ...request, deadlineMs: 200 }) },
  }
  assert.equal((await createDeliverer(hasty)(id, nobody)).kind, 'again')
  assert.deepEqual(await triesOf(id), [
    { status: null, fault: 'timeout: 200 ms were over while waiting for the answer', answer: null },
  ])
})

test('a receiver that flaps is told each message once it takes it, and is failing no more', async (t) => {
  const { webhook, id, receiver } = await prepare(t, (response, _, n) =>
    response.writeHead(n % 2 === 0 ? 503 : 200).end(),
  )
  await ground.deliver(id)
  const failing = async () =>
    (await pool.query('select failing_since, failed_at from webhooks where id = $1', [webhook.id])).rows[0]
  const since = await failing()
  assert.ok(since.failing_since instanceof Date && since.failed_at instanceof Date)
  await ground.due(id)
  await ground.deliver(id)
  assert.equal((await ground.stateOf(id)).status, 'delivered')
  assert.deepEqual(await failing(), { failing_since: null, failed_at: null })
  assert.equal(receiver.arrivals.length, 2)
})

test('an answer of 410 disables the webhook and drops what waits for it, and what comes too late', async (t) => {
  const { webhook, id, receiver } = await prepare(t, answer(410))
  const others = [await ground.endOneFor(webhook), await ground.endOneFor(webhook)]
  assert.deepEqual(await ground.deliver(id), { kind: 'done' })
  const { rows } = await pool.query('select enabled, paused_reason from webhooks')
  assert.deepEqual(rows, [{ enabled: false, paused_reason: null }])
  assert.equal((await ground.stateOf(id)).status, 'dead')
  for (const other of others) {
    assert.equal((await ground.stateOf(other)).status, 'dropped')
    assert.deepEqual(await ground.deliver(other), { kind: 'done' })
  }
  assert.equal(receiver.arrivals.length, 1)
  assert.deepEqual((await ground.endOne()).told, [])
})

test('a callback that is answered with 410 is dead, and the next one is sent all the same', async (t) => {
  const receiver = await startReceiver(t, answer(410))
  ground.allowPort(receiver.port)
  await renewCallbackSecret(vault, owner)
  for (const n of [1, 2]) {
    const { told } = await ground.endOne({ keyId: ground.key.id, callbackUrl: receiver.url })
    await ground.deliver(told[0] ?? '')
    assert.equal((await ground.stateOf(told[0] ?? '')).status, 'dead')
    assert.equal(receiver.arrivals.length, n)
  }
})

test('the tenth try is the last, and what is dead is kept', async (t) => {
  const { receiver, id } = await prepare(t, answer(500))
  for (let n = 1; n <= 10; n++) {
    await ground.due(id)
    assert.equal((await ground.deliver(id)).kind, n < 10 ? 'again' : 'done')
  }
  assert.deepEqual(await ground.deliver(id), { kind: 'done' })
  const delivery = await getDelivery(pool, owner.actor, id)
  assert.deepEqual([delivery.status, delivery.tries.length], ['dead', 10])
  assert.ok(delivery.ended_at !== null && delivery.due_at === null)
  assert.equal(receiver.arrivals.length, 10)
})

test('of an answer 4 kB are stored, without control characters', async (t) => {
  const { id } = await prepare(t, answer(500, {}, `a\u0000\u001b[31m\u202eb\n${'é'.repeat(9_000)}`))
  await ground.deliver(id)
  const [tried] = await triesOf(id)
  const stored = tried?.answer ?? ''
  assert.ok(stored.startsWith('a[31mb\né'))
  assert.ok(Buffer.byteLength(stored) <= 4_096)
  const { rows } = await pool.query('select octet_length(answer) as bytes from delivery_tries')
  assert.ok(rows[0].bytes <= 4_096 && rows[0].bytes > 4_000)
})

test('a webhook whose address leads inside by now is never dialled', async (t) => {
  const { receiver, id, webhook } = await prepare(t)
  for (const host of [
    `localhost:${receiver.port}`,
    `127.0.0.2:${receiver.port}`,
    '169.254.169.254',
    '[::1]',
  ]) {
    await pool.query('update webhooks set url = $2, updated_at = clock_timestamp() where id = $1', [
      webhook.id,
      `http://${host}/in`,
    ])
    await ground.due(id)
    assert.equal((await ground.deliver(id)).kind, 'again')
    const tried = (await triesOf(id)).at(-1)
    assert.match(tried?.fault ?? '', /^refused_address: /)
    assert.doesNotMatch(tried?.fault ?? '', /\/in/)
  }
  assert.equal(receiver.arrivals.length, 0)
})

test('the log tells ids and statuses, never an address, a body or a secret', async (t) => {
  ground.lines.length = 0
  const { secret, id } = await prepare(t, answer(500, {}, 'what they said'))
  await ground.deliver(id)
  const text = ground.lines.join('\n')
  assert.match(text, new RegExp(id))
  assert.doesNotMatch(text, /127\.0\.0\.1|sunny|what they said/)
  assert.ok(!text.includes(secret) && !text.includes(secret.slice(6)))
})
