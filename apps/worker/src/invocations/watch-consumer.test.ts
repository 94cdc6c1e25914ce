import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { watchConsumer } from './watch-consumer.ts'

test('a consumer that is given nothing while jobs wait and it has a slot is not ready, until it is given one', async (t) => {
  let waiting = 0
  let isFree = true
  let looks = 0
  const counts = async () => {
    looks += 1
    return { waiting, active: 0, delayed: 0 }
  }
  const watch = watchConsumer({
    counts,
    isFree: () => isFree,
    onFailure: (error) => assert.fail(String(error)),
    everyMs: 1,
  })
  t.after(() => watch.stop())
  const afterLooks = async (count: number) => {
    const until = looks + count
    await waitUntil('the looks', () => looks >= until)
  }
  await afterLooks(6)
  assert.equal(watch.part().state, 'ready', 'nothing waits')
  waiting = 5
  await waitUntil('it to be noticed', () => watch.part().state === 'unfit')
  watch.noteTaken()
  assert.equal(watch.part().state, 'ready')
  await waitUntil('it to be noticed again', () => watch.part().state === 'unfit')
  isFree = false
  await waitUntil('a full worker to be ready', () => watch.part().state === 'ready')
})
