import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { AppError } from '@toolyard/contract/errors'
import { newId } from '@toolyard/contract/ids'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { benchWarmKey } from '../bench/warm-key.ts'
import { makeKey, operator } from '../fixtures/keys.ts'
import { separatePool, testVerifier } from '../fixtures/verifiers.ts'
import { revokeKey } from './revoke-key.ts'
import { formatToken, newSecret, parseToken } from './token.ts'
import type { Verifier } from './verifier.ts'

const { pool, url } = await testDatabase()
const home = '192.0.2.1'
const elsewhere = '198.51.100.1'

const wrongToken = (id: string = newId()) => formatToken({ id, secret: newSecret() })

/** The code of the refusal, or 'yes'. */
async function answer(verifier: Verifier, presented: string | undefined, address = home): Promise<string> {
  try {
    await verifier.verify(presented, address)
    return 'yes'
  } catch (error) {
    assert.ok(error instanceof AppError, inspect(error))
    if (error.code === 'rate_limited') assert.ok((error.retryAfterSeconds ?? 0) >= 1)
    return error.code
  }
}

const tally = (answers: string[]) =>
  Object.fromEntries(
    Map.groupBy(answers, (one) => one)
      .entries()
      .map(([k, v]) => [k, v.length]),
  )

test('a key is hashed once, then known by its text', async () => {
  const { key, token } = await makeKey(pool, { topics: ['a'] })
  const verifier = await testVerifier(pool)
  assert.deepEqual(await verifier.verify(token, home), key)
  assert.equal(verifier.hashCount(), 1)
  for (let i = 0; i < 100; i++) assert.deepEqual(await verifier.verify(token, elsewhere), key)
  assert.equal(verifier.hashCount(), 0)
})

test('unknown, wrong, revoked and expired keys cost one hash each and are told the same', async () => {
  const { key } = await makeKey(pool)
  const revoked = await makeKey(pool)
  await revokeKey(pool, operator, revoked.key.id)
  const expired = await makeKey(pool)
  await pool.query("update api_keys set expires_at = now() - interval '1 second' where id = $1", [
    expired.key.id,
  ])
  const verifier = await testVerifier(pool)
  const messages = new Set<string>()
  for (const presented of [
    wrongToken(),
    wrongToken(key.id),
    revoked.token,
    wrongToken(revoked.key.id),
    expired.token,
  ]) {
    const error: unknown = await verifier.verify(presented, home).catch((cause: unknown) => cause)
    assert.ok(error instanceof AppError)
    assert.equal(error.code, 'unauthenticated')
    assert.equal(verifier.hashCount(), 1)
    assert.ok(
      !inspect(error, { depth: 9, showHidden: true }).includes(
        parseToken(presented)?.secret ?? assert.fail(),
      ),
    )
    messages.add(error.message)
  }
  assert.equal(messages.size, 1)
})

test('what is not a token costs no hash', async () => {
  const { token } = await makeKey(pool)
  const verifier = await testVerifier(pool)
  for (const presented of [
    undefined,
    '',
    'x',
    `${token} `,
    token.slice(0, -1),
    token.toUpperCase(),
    'é'.repeat(token.length),
  ]) {
    assert.equal(await answer(verifier, presented), 'unauthenticated')
  }
  assert.equal(await answer(verifier, 'y'.repeat(5_000_000)), 'unauthenticated')
  assert.equal(verifier.hashCount(), 0)
})

test('a warm key does not open the door to another secret of the same id', async () => {
  const { key, token } = await makeKey(pool)
  const verifier = await testVerifier(pool)
  assert.equal(await answer(verifier, token), 'yes')
  assert.equal(await answer(verifier, wrongToken(key.id)), 'unauthenticated')
  assert.equal(
    await answer(
      verifier,
      token.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    ),
    'unauthenticated',
  )
})

for (const [what, present] of [
  ['made-up ids', () => wrongToken()],
  ['one made-up id', (made: { unknown: string }) => wrongToken(made.unknown)],
  ['a real id', (made: { real: string }) => wrongToken(made.real)],
  ['a revoked key', (made: { revoked: string }) => made.revoked],
  ['text that is no key', () => 'yk_wrong'],
] as const) {
  test(`100 wrong keys in a row with ${what} cost at most the minute's hashes and shut out nobody else`, async () => {
    const warm = await makeKey(pool)
    const revoked = await makeKey(pool)
    await revokeKey(pool, operator, revoked.key.id)
    const verifier = await testVerifier(pool, { failuresPerMinute: 5 })
    assert.equal(await answer(verifier, warm.token), 'yes')
    verifier.hashCount()
    const made = { unknown: newId(), real: warm.key.id, revoked: revoked.token }
    const answers: string[] = []
    for (let i = 0; i < 100; i++) answers.push(await answer(verifier, present(made)))
    assert.deepEqual(tally(answers), { unauthenticated: 5, rate_limited: 95 })
    assert.ok(verifier.hashCount() <= 5)

    assert.equal(await answer(verifier, warm.token), 'yes')
    const cold = await makeKey(pool)
    assert.equal(await answer(verifier, cold.token), 'yes', 'a cold key behind the same address')
    assert.equal(
      await answer(verifier, wrongToken(), elsewhere),
      'unauthenticated',
      'another address has its own attempts',
    )
  })
}

test('wrong keys all at once cost no more than one after the other', async () => {
  const verifier = await testVerifier(pool, { failuresPerMinute: 5 })
  const answers = await Promise.all(Array.from({ length: 100 }, () => answer(verifier, wrongToken())))
  assert.equal(answers.includes('yes'), false)
  assert.ok((tally(answers)['rate_limited'] ?? 0) >= 95)
  assert.ok(verifier.hashCount() <= 5)
})

test('at most two hashes run; wrong keys do not wait for a slot, real ones do, in bounded number', async () => {
  const gates: (() => void)[] = []
  let running = 0
  let peak = 0
  const verifySecret = async () => {
    peak = Math.max(peak, ++running)
    const gate = Promise.withResolvers<void>()
    gates.push(gate.resolve)
    await gate.promise
    running -= 1
    return true
  }
  const keys = await Promise.all(Array.from({ length: 9 }, () => makeKey(pool)))
  const verifier = await testVerifier(pool, { verifySecret })
  const attackers = [
    answer(verifier, wrongToken(), '203.0.113.1'),
    answer(verifier, wrongToken(), '203.0.113.2'),
  ]
  await waitUntil('both slots are taken', () => running === 2)
  assert.equal(await answer(verifier, wrongToken(), '203.0.113.3'), 'rate_limited')
  const real = keys.map(({ token }) => answer(verifier, token))
  const first = await Promise.race(real)
  assert.equal(first, 'rate_limited', 'the ninth waiter')
  assert.equal(await answer(verifier, wrongToken(), '203.0.113.4'), 'rate_limited')
  while (gates.length > 0) {
    gates.shift()?.()
    await new Promise(setImmediate)
  }
  assert.deepEqual(
    await Promise.all(attackers),
    ['unauthenticated', 'unauthenticated'],
    'whatever the hash says of them',
  )
  assert.deepEqual(tally(await Promise.all(real)), { yes: 8, rate_limited: 1 })
  assert.equal(peak, 2)
})

test('a burst with one cold key costs one hash', async () => {
  const { token } = await makeKey(pool)
  const verifier = await testVerifier(pool)
  const answers = await Promise.all(Array.from({ length: 200 }, () => answer(verifier, token)))
  assert.deepEqual(tally(answers), { yes: 200 })
  assert.equal(verifier.hashCount(), 1)
})

test('when the epoch moves, a warm key is looked up again and not hashed again', async () => {
  const { token } = await makeKey(pool)
  const verifier = await testVerifier(pool)
  assert.equal(await answer(verifier, token), 'yes')
  const before = verifier.watch.fresh()?.epoch
  await makeKey(pool)
  await waitUntil('the watch sees the new epoch', () => verifier.watch.fresh()?.epoch !== before)
  verifier.hashCount()
  assert.equal(await answer(verifier, token), 'yes')
  assert.equal(verifier.hashCount(), 0)
})

test('a revoked key is refused by every process within 2 s', async () => {
  const { key, token } = await makeKey(pool)
  const others = [await testVerifier(separatePool(url)), await testVerifier(separatePool(url))]
  for (const verifier of others) assert.equal(await answer(verifier, token), 'yes')
  await revokeKey(pool, operator, key.id)
  const revokedAtMs = performance.now()
  await Promise.all(
    others.map((verifier) =>
      waitUntil(
        'the process refuses',
        async () => (await answer(verifier, token)) === 'unauthenticated',
        3_000,
      ),
    ),
  )
  assert.ok(performance.now() - revokedAtMs < 2_000)
  for (const verifier of others) assert.equal(await answer(verifier, token), 'unauthenticated')
})

test('a warm key ends at the moment it expires, by the clock of the database', async () => {
  const { rows } = await pool.query<{ soon: Date }>("select now() + interval '400 milliseconds' as soon")
  const soon = rows[0]?.soon ?? assert.fail()
  const { token } = await makeKey(pool, { expires_at: soon.toISOString() })
  const verifier = await testVerifier(pool)
  assert.equal(await answer(verifier, token), 'yes')
  await waitUntil(
    'the key is refused',
    async () => (await answer(verifier, token, elsewhere)) === 'unauthenticated',
    2_000,
  )
  const late = await pool.query<{ ms: number }>(
    'select (extract(epoch from clock_timestamp() - $1) * 1000)::float8 as ms',
    [soon],
  )
  const lateMs = late.rows[0]?.ms ?? assert.fail()
  assert.ok(lateMs > -50 && lateMs < 500, `${lateMs} ms after the expiry`)
})

test('a row whose hash is another one, or a database with an older epoch, ends what is remembered', async () => {
  const { pool: restored } = await testDatabase()
  const { key, token } = await makeKey(restored)
  const other = await makeKey(restored)
  const verifier = await testVerifier(restored)
  for (const one of [token, other.token]) assert.equal(await answer(verifier, one), 'yes')
  await restored.query(
    'update api_keys set secret_hash = (select secret_hash from api_keys where id = $2) where id = $1',
    [key.id, other.key.id],
  )
  await restored.query('delete from api_keys where id = $1', [other.key.id])
  await restored.query('update access_epoch set epoch = 0')
  await waitUntil('the watch sees the older epoch', () => verifier.watch.fresh()?.epoch === '0')
  for (const one of [token, other.token]) assert.equal(await answer(verifier, one), 'unauthenticated')
})

test('only so many keys are remembered (I8)', async () => {
  const keys = await Promise.all(Array.from({ length: 3 }, () => makeKey(pool)))
  const verifier = await testVerifier(pool, { cachedMax: 2 })
  for (const { token } of keys) assert.equal(await answer(verifier, token), 'yes')
  assert.equal(verifier.hashCount(), 3)
  for (const { token } of keys.slice(1)) assert.equal(await answer(verifier, token), 'yes')
  assert.equal(verifier.hashCount(), 0)
  assert.equal(await answer(verifier, keys[0]?.token), 'yes')
  assert.equal(verifier.hashCount(), 1)
})

test('a warm key costs far under 0.2 ms, and the bench that says so leaves no working key', async () => {
  const lines: string[] = []
  const { perCallMicros } = await benchWarmKey(pool, { calls: 20_000, print: (line) => lines.push(line) })
  assert.ok(perCallMicros.p50 < 200, lines.join())
  assert.match(lines.join(), /p50 .* µs, p99 .* µs/)
  const left = await pool.query("select 1 from api_keys where name like 'bench %' and revoked_at is null")
  assert.equal(left.rowCount, 0)
})

test('an address that is over its budget cannot take the lookups of everybody else', async () => {
  const { token } = await makeKey(pool)
  const verifier = await testVerifier(pool)
  for (let i = 0; i < 100; i++) await answer(verifier, wrongToken())
  assert.equal(await answer(verifier, wrongToken()), 'rate_limited')
  const flood = Array.from({ length: 200 }, () => answer(verifier, wrongToken()))
  assert.equal(await answer(verifier, token, elsewhere), 'yes')
  assert.deepEqual(tally(await Promise.all(flood)), { rate_limited: 200 })
  assert.equal(
    await answer(verifier, (await makeKey(pool)).token),
    'yes',
    'a real key behind the address has its turn',
  )
})
