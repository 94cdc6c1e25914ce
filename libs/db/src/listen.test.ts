import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { emptyDatabase } from '@toolyard/testkit/database'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { listen } from './listen.ts'

const database = await emptyDatabase()
const proxy = await stallableProxy(database.url)

function openListener(t: TestContext, times: { checkEveryMs?: number; answerTimeoutMs?: number } = {}) {
  const heard: string[] = []
  const errors: unknown[] = []
  let listenings = 0
  const listener = listen({
    url: proxy.url,
    applicationName: 'listen-test',
    channels: {
      news: (payload) => heard.push(payload),
      'odd "name"': (payload) => heard.push(`odd ${payload}`),
    },
    onListening: () => {
      listenings += 1
    },
    onError: (error) => errors.push(error),
    ...times,
  })
  t.after(() => listener.close())
  t.after(() => proxy.mend())
  return { listener, heard, errors, listenings: () => listenings }
}

const say = (channel: string, payload: string) =>
  database.pool.query('select pg_notify($1, $2)', [channel, payload])

test('what is said on its channels is heard, and nothing else', async (t) => {
  const { heard, listenings, listener } = openListener(t)
  await waitUntil('it to listen', () => listenings() === 1)
  assert.ok(listener.isListening())
  await say('other', 'not for us')
  await say('odd "name"', 'x')
  await say('news', 'first')
  await waitUntil('both', () => heard.length === 2)
  assert.deepEqual(heard, ['odd x', 'first'])
})

test('a connection that is cut is replaced, which is told, and later messages are heard', async (t) => {
  const { heard, errors, listenings, listener } = openListener(t)
  await waitUntil('it to listen', () => listenings() === 1)
  proxy.cut()
  await waitUntil('the break to be told', () => errors.length > 1)
  assert.equal(listener.isListening(), false)
  proxy.mend()
  await waitUntil('it to listen again', () => listenings() === 2)
  await say('news', 'after')
  await waitUntil('the message', () => heard.includes('after'))
})

test('a backend that the operator ends is replaced', async (t) => {
  const { heard, listenings } = openListener(t)
  await waitUntil('it to listen', () => listenings() === 1)
  await database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listen-test'",
  )
  await waitUntil('it to listen again', () => listenings() === 2)
  await say('news', 'still here')
  await waitUntil('the message', () => heard.includes('still here'))
})

test('a network that falls silent is noticed by asking', async (t) => {
  const { errors, listenings } = openListener(t, { checkEveryMs: 50, answerTimeoutMs: 200 })
  await waitUntil('it to listen', () => listenings() === 1)
  proxy.stall()
  await waitUntil('the silence to be noticed', () => errors.length > 0)
  proxy.mend()
  await waitUntil('it to listen again', () => listenings() > 1)
})

test('it can be closed at any moment: at once, while it pauses, while nobody answers', async (t) => {
  const early = openListener(t)
  await early.listener.close()
  proxy.cut()
  const pausing = openListener(t)
  await waitUntil('a failure', () => pausing.errors.length > 0)
  await pausing.listener.close()
  proxy.mend()
  const stalled = openListener(t)
  await waitUntil('it to listen', () => stalled.listenings() === 1)
  proxy.stall()
  await stalled.listener.close()
  assert.equal(stalled.listener.isListening(), false)
})
