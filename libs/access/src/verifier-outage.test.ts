import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { newId } from '@toolyard/contract/ids'
import { testDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { makeKey, operator } from '../fixtures/keys.ts'
import { separatePool, testVerifier } from '../fixtures/verifiers.ts'
import { revokeKey } from './revoke-key.ts'
import { formatToken, newSecret } from './token.ts'
import type { Verifier } from './verifier.ts'

const { pool, url } = await testDatabase()
const home = '192.0.2.1'

async function answer(verifier: Verifier, token: string): Promise<string> {
  try {
    await verifier.verify(token, home)
    return 'yes'
  } catch (error) {
    assert.ok(error instanceof AppError, String(error))
    return error.code
  }
}

async function behindProxy(watchClock?: () => number) {
  const proxy = await stallableProxy(url)
  const own = separatePool(proxy.url)
  const verifier = await testVerifier(own, watchClock === undefined ? {} : { watchClock })
  return { proxy, verifier }
}

test('cut off from the database, a warm key works for the rest of the 2 s, then none does, then all heals (I9)', async () => {
  let nowMs = 0
  const { proxy, verifier } = await behindProxy(() => nowMs)
  const warm = await makeKey(pool)
  const cold = await makeKey(pool)
  await waitUntil('the key is warm', async () => {
    await verifier.verify(warm.token, home)
    return (
      verifier.watch.fresh()?.epoch === (await pool.query('select epoch from access_epoch')).rows[0].epoch
    )
  })
  assert.equal(await answer(verifier, warm.token), 'yes')
  verifier.hashCount()
  proxy.cut()
  nowMs = 1_999
  assert.equal(await answer(verifier, warm.token), 'yes')
  nowMs = 2_000
  assert.equal(await answer(verifier, warm.token), 'store_unavailable')
  assert.equal(await answer(verifier, cold.token), 'store_unavailable')
  assert.equal(await answer(verifier, formatToken({ id: newId(), secret: newSecret() })), 'store_unavailable')
  await waitUntil('the outage is told', () => verifier.failures.length > 0)
  proxy.mend()
  assert.equal(await answer(verifier, warm.token), 'yes')
  assert.equal(verifier.hashCount(), 0, 'what was verified before the outage is not hashed again')
  await waitUntil('the watch reads again', () => verifier.watch.fresh())
  assert.equal(await answer(verifier, cold.token), 'yes')
  assert.equal(verifier.failures.length, 1)
})

test('a key that is revoked while a process hears nothing of the database is refused there too within 2 s', async () => {
  const { proxy, verifier } = await behindProxy()
  const { key, token } = await makeKey(pool)
  const { epoch } = (await pool.query('select epoch from access_epoch')).rows[0]
  await waitUntil(
    'the watch has caught up with the making of the key',
    () => verifier.watch.fresh()?.epoch === epoch,
  )
  assert.equal(await answer(verifier, token), 'yes')
  proxy.stall()
  await revokeKey(pool, operator, key.id)
  const revokedAtMs = performance.now()
  let lastYesMs = 0
  await waitUntil('the process refuses', async () => {
    const said = await answer(verifier, token)
    if (said === 'yes') lastYesMs = performance.now() - revokedAtMs
    return said === 'store_unavailable'
  })
  assert.ok(lastYesMs > 0 && lastYesMs < 2_000, `the last yes came after ${lastYesMs} ms`)
  proxy.mend()
  await waitUntil('the process knows', async () => (await answer(verifier, token)) === 'unauthenticated')
})

test('on a connection that hangs, a request is answered in under 2 s, and many at once do not wait for each other', async () => {
  const { proxy, verifier } = await behindProxy()
  const keys = await Promise.all(Array.from({ length: 20 }, () => makeKey(pool)))
  proxy.stall()
  const beganAtMs = performance.now()
  const answers = await Promise.all(keys.map(({ token }) => answer(verifier, token)))
  assert.ok(performance.now() - beganAtMs < 2_000)
  assert.deepEqual(new Set(answers), new Set(['store_unavailable']))
  proxy.mend()
  await waitUntil('a key works again', async () => (await answer(verifier, keys[0]?.token ?? '')) === 'yes')
})

test('while the epoch has not been read for 2 s, the database decides each time, without hashing', async () => {
  let nowMs = 0
  const verifier = await testVerifier(separatePool(url), { watchClock: () => nowMs, intervalMs: 3_600_000 })
  const { key, token } = await makeKey(pool)
  assert.equal(await answer(verifier, token), 'yes')
  nowMs = 10_000
  assert.equal(verifier.watch.fresh(), undefined)
  verifier.hashCount()
  assert.equal(await answer(verifier, token), 'yes')
  await revokeKey(pool, operator, key.id)
  assert.equal(await answer(verifier, token), 'unauthenticated')
  assert.equal(verifier.hashCount(), 0)
})

test('a database without its epoch says no (I9)', async () => {
  const { pool: broken } = await testDatabase()
  const { token } = await makeKey(broken)
  const verifier = await testVerifier(broken, { intervalMs: 10 })
  assert.equal(await answer(verifier, token), 'yes')
  await broken.query('delete from access_epoch')
  await waitUntil('the key is refused', async () => (await answer(verifier, token)) !== 'yes', 3_000)
  assert.equal(verifier.failures.length, 1)
})
