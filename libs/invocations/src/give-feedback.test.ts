import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '@toolyard/contract/errors'
import { engineGone, failure, success } from '../fixtures/outcomes.ts'
import { keyActor, makeTool, makeWorld, operator, runningOne, submitOne } from '../fixtures/world.ts'
import { cancel } from './cancel.ts'
import { finish } from './finish.ts'
import { getInvocation } from './get.ts'
import type { GivenFeedback } from './give-feedback.ts'
import { giveFeedback } from './give-feedback.ts'
import { readReplay } from './read-replay.ts'
import { createSubmitter } from './submitter.ts'

const { pool, deps } = await makeWorld()

test('feedback replaces the reward, once, and the memory hears what it replaced (I3)', async () => {
  const hold = await runningOne(deps)
  await finish(deps, { hold, outcome: failure })
  const heard: GivenFeedback[] = []
  const within = async (_sql: unknown, given: GivenFeedback) => void heard.push(given)
  const answers = await Promise.all(
    [0.9, -1, 0.5, 1].map((feedback) => giveFeedback(pool, operator, { id: hold.id, feedback, within })),
  )
  assert.equal(answers.filter(({ kind }) => kind === 'given').length, 1)
  assert.equal(answers.filter(({ kind }) => kind === 'already_given').length, 3)
  assert.deepEqual([heard.length, heard[0]?.replacedReward, heard[0]?.tool], [1, -0.2, 'weather'])
  const read = await getInvocation(pool, operator, hold.id)
  assert.deepEqual([read.reward, read.feedback], [heard[0]?.feedback, heard[0]?.feedback])
})

test('what has not ended, or does not count, takes no feedback', async () => {
  const give = (id: string) => giveFeedback(pool, operator, { id, feedback: 0 })
  const running = await runningOne(deps)
  assert.deepEqual(await give(running.id), { kind: 'not_final' })
  await pool.query('update invocations set infra_failures = 2 where id = $1', [running.id])
  await finish(deps, { hold: running, outcome: engineGone })
  assert.deepEqual(await give(running.id), { kind: 'not_counted' })
  const queued = await submitOne(deps)
  await cancel(deps, operator, { id: queued.id })
  assert.deepEqual(await give(queued.id), { kind: 'not_counted' })
})

test('feedback is a number from -1 to 1, from who may see the invocation; a hook that fails gives none', async () => {
  const hold = await runningOne(deps)
  await finish(deps, { hold, outcome: success })
  const isCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code
  for (const feedback of [1.01, -2, Number.NaN, Number.POSITIVE_INFINITY])
    await assert.rejects(giveFeedback(pool, operator, { id: hold.id, feedback }), isCode('invalid_request'))
  const stranger = keyActor({ topics: ['theirs'] })
  await assert.rejects(giveFeedback(pool, stranger, { id: hold.id, feedback: 1 }), isCode('not_found'))
  const within = async () => {
    throw new Error('memory is away')
  }
  await assert.rejects(giveFeedback(pool, operator, { id: hold.id, feedback: 1, within }), /away/)
  assert.equal((await getInvocation(pool, operator, hold.id)).feedback, null)
})

test('a replay has the same input, as the call of who asks, with the version that ran or whichever serves', async () => {
  await makeTool(pool, 'moving')
  const given = {
    tool: 'moving',
    params: { city: 'Gżira' },
    metadata: { n: 1 },
    priority: 8,
    keyId: 'k9',
    callbackUrl: 'https://e.org',
  }
  const hold = await runningOne(deps, given)
  await finish(deps, { hold, outcome: success })
  await makeTool(pool, 'moving', { hash: 'moving-2' })
  const actor = keyActor({ topics: ['trip'] })
  const same = await readReplay(pool, actor, { id: hold.id, version: 'same' })
  assert.deepEqual(same, {
    ...given,
    topic: 'trip',
    telemetry: { lat: null },
    pinnedHash: 'moving-1',
    replayOf: hold.id,
  })
  const { submit } = createSubmitter(deps)
  const again = await submit(same)
  assert.ok(again.kind === 'accepted')
  assert.deepEqual([again.invocation.imageHash, again.invocation.replayOf], ['moving-1', hold.id])
  assert.deepEqual(await getInvocation(pool, operator, again.invocation.id), again.invocation)
  const newest = await readReplay(pool, operator, { id: hold.id, version: 'newest' })
  assert.deepEqual([newest.pinnedHash, newest.keyId], [undefined, null])
  assert.equal(newest.callbackUrl, undefined, 'where another is told')
  const hidden = (error: unknown) => error instanceof AppError && error.code === 'not_found'
  await assert.rejects(
    readReplay(pool, keyActor({ topics: ['x'] }), { id: hold.id, version: 'same' }),
    hidden,
  )
})
