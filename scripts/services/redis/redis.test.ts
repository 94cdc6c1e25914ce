import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { testRedisUrl } from '@toolyard/testkit/environment'
import { freePort } from '@toolyard/service/free-port'
import { pingRedis, waitForRedis } from './redis.ts'

const never = new AbortController().signal

test('a Redis that is there answers', async () => {
  assert.equal(await pingRedis(testRedisUrl()), 'PONG')
  await waitForRedis(testRedisUrl(), 0, never)
})

test('a password that the server does not know is refused at once, and never shown', async () => {
  const url = new URL(testRedisUrl())
  url.username = 'nobody'
  url.password = 'hunter2'
  await assert.rejects(waitForRedis(url.href, 60_000, never), (error: Error) => {
    assert.match(error.message, /^No Redis at nobody@.* \(WRONGPASS.*REDIS_URL/)
    assert.doesNotMatch(error.message, /hunter2/)
    return true
  })
})

test('a port on which nobody listens, or that hangs up, is waited for and then refused with the mend', async (t) => {
  const closed = await freePort()
  await assert.rejects(
    waitForRedis(`redis://127.0.0.1:${closed}`, 150, never),
    /127\.0\.0\.1:\d+.*ECONNREFUSED.*correct REDIS_URL/,
  )
  const rude = await rudeServer(t)
  await assert.rejects(waitForRedis(`redis://127.0.0.1:${rude}`, 150, never), /connection was closed/)
})

test('waiting ends when it is no longer wanted', async () => {
  const stop = new AbortController()
  const waiting = waitForRedis(`redis://127.0.0.1:${await freePort()}`, 60_000, stop.signal)
  stop.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
})

async function rudeServer(t: TestContext): Promise<number> {
  const server = createServer((socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return address.port
}
