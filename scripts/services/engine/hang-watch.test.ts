import assert from 'node:assert/strict'
import { test } from 'node:test'
import { probeEngine } from '@toolyard/sandbox/engine'
import { testDockerHost } from '@toolyard/testkit/environment'
import { stallableProxy } from '@toolyard/testkit/stallable-proxy'
import { watchForHang } from './hang-watch.ts'

test('an engine that is silent six times in a row hangs, and one answer in between says that it does not', async () => {
  const proxy = await stallableProxy(testDockerHost())
  const asked: Promise<{ state: string }>[] = []
  const watch = watchForHang(proxy.url, (dockerHost) => {
    const answer = probeEngine(dockerHost, 300)
    asked.push(answer)
    return answer
  })
  let nowMs = 0
  const lookAgain = async (times: number) => {
    for (let time = 0; time < times; time++) {
      watch.look((nowMs += 5_000))
      // Too soon, or still asking: nothing is asked.
      watch.look(nowMs + 4_999)
      await asked.at(-1)
    }
    // The watch has heard the last answer too.
    await new Promise(setImmediate)
  }
  await lookAgain(3)
  proxy.stall()
  await lookAgain(5)
  assert.equal(watch.isHung(), false)
  proxy.mend()
  await lookAgain(1)
  proxy.stall()
  await lookAgain(5)
  assert.deepEqual([watch.isHung(), asked.length], [false, 14])
  await lookAgain(1)
  assert.equal(watch.isHung(), true)
  watch.forget()
  assert.equal(watch.isHung(), false)
  proxy.mend()
})
