import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPool } from '@toolyard/db/pool'
import { success } from '../fixtures/outcomes.ts'
import { makeWorld, runningOne, submissionOf, submitOne } from '../fixtures/world.ts'
import { finish } from './finish.ts'
import { createQueueDepth } from './queue-depth.ts'
import { createSubmitter } from './submitter.ts'

const { pool, deps, database } = await makeWorld()

test('it counts what is not final, once a second, and what this process adds', async () => {
  let nowMs = 0
  const depth = createQueueDepth(pool, () => nowMs)
  const hold = await runningOne(deps)
  await submitOne(deps)
  await depth.refresh()
  assert.deepEqual([depth.ofTool('weather'), depth.ofTool('other'), depth.total()], [2, 0, 2])
  depth.add('other')
  await finish(deps, { hold, outcome: success })
  nowMs += 999
  await depth.refresh()
  assert.deepEqual([depth.ofTool('weather'), depth.ofTool('other'), depth.total()], [2, 1, 3])
  nowMs += 1
  await depth.refresh()
  assert.deepEqual([depth.ofTool('weather'), depth.ofTool('other'), depth.total()], [1, 0, 1])
})

test('without a count nothing is known, and that is told (I9)', async () => {
  const ended = createPool({
    url: database.url,
    max: 1,
    applicationName: 'depth-test',
    onIdleError: () => {},
  })
  await ended.end()
  const depth = createQueueDepth(ended)
  await assert.rejects(depth.refresh())
  await assert.rejects(depth.refresh())
  const { submit } = createSubmitter({ pool: ended, afterCommit: deps.afterCommit })
  await assert.rejects(submit(submissionOf()))
})
