import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { FollowersOptions } from './followers.ts'
import { createFollowers } from './followers.ts'

/** Followers whose runs are noted, and end when the test says so. */
function open(t: TestContext, options: Partial<FollowersOptions> = {}) {
  const runs: { ids: readonly string[]; end: () => void }[] = []
  const failures: unknown[] = []
  const followers = createFollowers<string>({
    idsPerRun: 10,
    everyMs: 60_000,
    work(ids) {
      const ended = Promise.withResolvers<void>()
      runs.push({ ids, end: ended.resolve })
      return ended.promise
    },
    onFailure: (error) => void failures.push(error),
    ...options,
  })
  t.after(async () => {
    for (const { end } of runs) end()
    await followers.close()
  })
  const run = (place: number) => waitUntil(`run ${place}`, () => runs[place])
  return { followers, runs, run, failures }
}

test('who comes in one turn goes together, and who comes meanwhile with the next run, once', async (t) => {
  const { followers, runs, run } = open(t)
  for (const id of ['a', 'b', 'a']) followers.add(id, 'x')
  assert.deepEqual((await run(0)).ids, ['a', 'b'])
  for (const id of ['c', 'a', 'c']) followers.add(id, 'y')
  assert.equal(runs.length, 1, 'one run after the other')
  runs[0]?.end()
  assert.deepEqual((await run(1)).ids, ['c', 'a'])
  assert.deepEqual([...followers.of('a')], ['x', 'y'])
})

test('no run has more than its share, and what is followed no more is left out', async (t) => {
  const { followers, runs, run } = open(t, { idsPerRun: 2 })
  const stops = ['a', 'b', 'c', 'd'].map((id) => followers.add(id, 'x'))
  assert.deepEqual((await run(0)).ids, ['a', 'b'])
  stops[2]?.()
  stops[2]?.()
  runs[0]?.end()
  assert.deepEqual((await run(1)).ids, ['d'])
  assert.equal(followers.count(), 3)
})

test('what failed is told and does not end it: the next turn works on all that are followed', async (t) => {
  let runs = 0
  const { followers, failures } = open(t, {
    everyMs: 20,
    async work() {
      runs += 1
      throw new Error('the database is away')
    },
  })
  followers.add('a', 'x')
  await waitUntil('three runs', () => runs >= 3)
  assert.ok(failures.length >= 2)
})

test('after the end nobody is followed and nothing is begun', async (t) => {
  const { followers, runs, run } = open(t, { everyMs: 5 })
  followers.add('a', 'x')
  const { end } = await run(0)
  const closed = followers.close()
  followers.add('b', 'y')
  end()
  await closed
  followers.plan(['a', 'b'])
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  assert.equal(runs.length, 1)
  assert.equal(followers.of('a').size, 0)
})
