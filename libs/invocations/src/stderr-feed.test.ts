import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { listen } from '@toolyard/db/listen'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { HeardStderr } from './stderr-feed.ts'
import { createStderrFeed } from './stderr-feed.ts'
import { createStderrSender } from './stderr-sender.ts'

const { pool, url } = await testDatabase()

const idOf = (digit: string) => `inv_${digit.repeat(26)}`

/** One process that watches and one that works. */
async function open(t: TestContext, { now, renewMs }: { now?: () => number; renewMs?: number } = {}) {
  const onFailure = (error: unknown) => assert.fail(String(error))
  const feed = createStderrFeed({ pool, onFailure, ...(renewMs === undefined ? {} : { renewMs }) })
  const sender = createStderrSender({ pool, onFailure, ...(now === undefined ? {} : { now }) })
  const listener = listen({
    url,
    applicationName: 'stderr-test',
    channels: { ...feed.channels, ...sender.channels },
    onListening: () => {},
    onError: onFailure,
  })
  t.after(async () => {
    await Promise.all([feed.close(), sender.close()])
    await listener.close()
  })
  await waitUntil('it to listen', () => listener.isListening())
  return { feed, sender }
}

test('a worker knows who is watched, and forgets it when nobody says so any more', async (t) => {
  let nowMs = 0
  const { feed, sender } = await open(t, { now: () => nowMs, renewMs: 20 })
  const id = idOf('1')
  assert.equal(sender.isWanted(id), false)
  const stop = feed.watch(id, () => {})
  await waitUntil('the wish', () => sender.isWanted(id))
  assert.equal(sender.isWanted(idOf('2')), false)
  nowMs = 10_000
  await waitUntil('the renewal', () => sender.isWanted(id))
  stop()
  assert.equal(feed.watchedCount(), 0)
  // What is under way may still renew it.
  await waitUntil('it to be forgotten', () => {
    nowMs += 10_000
    return !sender.isWanted(id)
  })
})

test('what is written arrives once, in order, and the same words twice are two', async (t) => {
  const { feed, sender } = await open(t)
  const id = idOf('3')
  const heard: HeardStderr[] = []
  feed.watch(id, (each) => heard.push(each))
  feed.watch(idOf('4'), () => assert.fail('another’s'))
  const live = sender.open({ id, attempt: 1 })
  live.write('tick\n')
  await waitUntil('the first', () => heard.length > 0)
  live.write('tick\n')
  await waitUntil('the second', () => heard.length > 1)
  // Two chunks that are alike, in one statement.
  live.write('x'.repeat(8_192))
  await live.end()
  await waitUntil('the last', () => heard.length > 3)
  assert.equal(heard.map(({ text }) => text).join(''), `tick\ntick\n${'x'.repeat(8_192)}`)
  assert.ok(heard.every(({ isGap, attempt }) => !isGap && attempt === 1))
})

test('who comes late is told that something is missing, and an attempt that was given up is not heard', async (t) => {
  const { feed, sender } = await open(t)
  const id = idOf('5')
  const early: HeardStderr[] = []
  feed.watch(id, (each) => early.push(each))
  const first = sender.open({ id, attempt: 1 })
  first.write('a')
  await first.end()
  await waitUntil('the first words', () => early.length === 1)
  const late: HeardStderr[] = []
  feed.watch(id, (each) => late.push(each))
  first.write('b')
  await first.end()
  await waitUntil('both', () => late.length === 1 && early.length === 2)
  assert.deepEqual([early[1]?.isGap, late[0]?.isGap], [false, true])
  const second = sender.open({ id, attempt: 2 })
  second.write('c')
  await second.end()
  await waitUntil('the new attempt', () => late.length === 2)
  assert.deepEqual(late[1], { attempt: 2, text: 'c', isGap: false })
  first.write('zombie')
  await first.end()
  second.write('d')
  await second.end()
  await waitUntil('the end', () => late.at(-1)?.text === 'd')
  assert.deepEqual(
    late.map(({ text }) => text),
    ['b', 'c', 'd'],
  )
})

test('many that shout together get no more than the worker has for all, and each its turn', async (t) => {
  const { feed, sender } = await open(t)
  const bytes = new Map<string, number>()
  const ids = Array.from('0123456789abcdefghjkmnpqrstvwx', idOf)
  for (const id of ids) feed.watch(id, ({ text }) => bytes.set(id, (bytes.get(id) ?? 0) + text.length))
  const startedMs = performance.now()
  for (const id of ids) sender.open({ id, attempt: 1 }).write('y'.repeat(1_000_000))
  await waitUntil('everybody', () => bytes.size === ids.length)
  const seconds = (performance.now() - startedMs) / 1_000
  const total = [...bytes.values()].reduce((sum, each) => sum + each, 0)
  assert.ok(total <= (seconds + 1) * 100 * 4_096, `${total} bytes in ${seconds} s`)
})
