import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPool } from '@toolyard/db/pool'
import { success } from '../fixtures/outcomes.ts'
import { makeWorld, runningOne, submissionOf, submitOne } from '../fixtures/world.ts'
import { finish } from './finish.ts'
import { createQueueDepth } from './queue-depth.ts'
import { checkSubmission } from './submission.ts'
import { submitBatch } from './submit-batch.ts'

const { pool, deps } = await makeWorld()

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

test('without a count nothing is known, and nothing is accepted (I9)', async () => {
  const away = createPool({
    url: 'postgres://nobody@127.0.0.1:1/none',
    max: 1,
    applicationName: 'depth-test',
    onIdleError: () => {},
  })
  const depth = createQueueDepth(away)
  const isAway = { code: 'ECONNREFUSED' }
  await assert.rejects(depth.refresh(), isAway)
  await assert.rejects(depth.refresh(), isAway)
  // Everything but the count is there.
  const submission = checkSubmission(submissionOf({ topic: 'uncounted' }))
  const stored = async () => (await pool.query("select from invocations where topic = 'uncounted'")).rowCount
  await assert.rejects(submitBatch(pool, depth, [submission]), isAway)
  assert.equal(await stored(), 0)
  const { answers } = await submitBatch(pool, createQueueDepth(pool), [submission])
  assert.equal(answers[0]?.kind, 'accepted')
  assert.equal(await stored(), 1)
  await away.end()
})
