import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { repeat } from './repeat.ts'

test('runs never overlap, and stop waits for the one that is under way', async () => {
  let under = 0
  let most = 0
  let runs = 0
  const gate = Promise.withResolvers<void>()
  const repeated = repeat({
    everyMs: 1,
    onFailure: (error) => assert.fail(String(error)),
    async work() {
      most = Math.max(most, ++under)
      if (++runs === 3) await gate.promise
      under--
    },
  })
  await waitUntil('the third run is under way', () => runs === 3)
  const stopped = repeated.stop()
  gate.resolve()
  await stopped
  assert.deepEqual({ most, under, runs }, { most: 1, under: 0, runs: 3 })
})

test('a failure is told once until it works again, and is not the end', async () => {
  const fails = [true, true, false, true]
  const told: unknown[] = []
  let runs = 0
  const repeated = repeat({
    everyMs: 1,
    onFailure: (error) => told.push(error),
    async work() {
      if (fails[runs++] === true) throw new Error(`run ${runs}`)
    },
  })
  await waitUntil('it went on', () => runs > 5)
  await repeated.stop()
  assert.deepEqual(told.map(String), ['Error: run 1', 'Error: run 4'])
})

test('hastened, the next run comes without its pause, and after the one that is under way', async () => {
  let runs = 0
  let gate = Promise.withResolvers<void>()
  const repeated = repeat({
    everyMs: 3_600_000,
    onFailure: (error) => assert.fail(String(error)),
    async work() {
      runs++
      await gate.promise
    },
  })
  repeated.hasten()
  repeated.hasten()
  assert.equal(runs, 1)
  gate.resolve()
  await waitUntil('the run that was asked for', () => runs === 2)
  gate = Promise.withResolvers()
  gate.resolve()
  repeated.hasten()
  await waitUntil('another one', () => runs === 3)
  await repeated.stop()
  repeated.hasten()
  assert.equal(runs, 3)
})
