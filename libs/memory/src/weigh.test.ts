import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Memory } from './memory.ts'
import { noMemory } from './memory.ts'
import { averageRewardOf, successRateOf, weighFeedback, weighOutcome } from './weigh.ts'

const success = { isSuccess: true, reward: 0.3, latencyMs: null, failure: null }
const at = new Date('2026-05-04T12:00:00Z')
const failed = { isSuccess: false, reward: -0.2, latencyMs: null, failure: { kind: 'tool_error', at } }
const external = { ...failed, reward: -0.05 }

const after = (outcomes: Parameters<typeof weighOutcome>[1][], memory: Memory = noMemory) =>
  outcomes.reduce(weighOutcome, memory)
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one)

function assertNear(actual: number | null, expected: number, what: string): void {
  assert.ok(actual !== null && Math.abs(actual - expected) < 1e-9, `${what}: ${actual} is not ${expected}`)
}

test('the numbers of four outcomes and a feedback, worked out by hand', () => {
  // 1. success: rate 1/1, average 0.3/1, target 1 x 1.3 = 1.3
  //    weight 1 + 0.1 x (1.3 - 1) = 1.03; recent 1
  const first = after([success])
  assertNear(first.weight, 1.03, 'weight after a success')
  assert.equal(first.recent, 1)
  // 2. failure: rate 1/2, average (0.3 - 0.2)/2 = 0.05, target 0.5 x 1.05 = 0.525
  //    weight 1.03 + 0.1 x (0.525 - 1.03) = 0.9795; recent 1 + 0.2 x (0 - 1) = 0.8
  const second = after([failed], first)
  assertNear(second.weight, 0.9795, 'weight after a failure')
  assertNear(second.recent, 0.8, 'recent after a failure')
  // 3. external: rate 1/3, average (0.3 - 0.2 - 0.05)/3 = 1/60, target 1/3 x 61/60 = 61/180 = 0.33888...
  //    weight 0.9795 + 0.1 x (61/180 - 0.9795) = 0.88155 + 6.1/180 = 0.9154388...; recent 0.8 x 0.8 = 0.64
  const third = after([external], second)
  assertNear(third.weight, 0.88155 + 6.1 / 180, 'weight after an external failure')
  assertNear(third.recent, 0.64, 'recent after two failures')
  // 4. success: rate 2/4, average 0.35/4 = 0.0875, target 0.5 x 1.0875 = 0.54375
  //    weight 0.9 x 0.91543888... + 0.054375 = 0.87827; recent 0.64 + 0.2 x 0.36 = 0.712
  const fourth = after([success], third)
  assertNear(fourth.weight, 0.87827, 'weight after another success')
  assertNear(fourth.recent, 0.712, 'recent after another success')
  assert.deepEqual([fourth.attempts, fourth.successes], [4, 2])
  // 5. feedback -1 on that success: sum 0.35 - 1 - 0.3 = -0.95, average -0.2375, target 0.5 x 0.7625 = 0.38125
  //    weight 0.9 x 0.87827 + 0.038125 = 0.828568
  const told = weighFeedback(fourth, -1, 0.3)
  assertNear(told.rewardSum, -0.95, 'sum after the feedback')
  assertNear(told.weight, 0.828568, 'weight after the feedback')
  assert.deepEqual(
    { ...told, rewardSum: 0, weight: 0 },
    { ...fourth, rewardSum: 0, weight: 0 },
    'a feedback changes nothing else',
  )
})

test('a tool that always succeeds tends to 1.3, and not to the 0.684 of the system before this one', () => {
  // There a statement that was left over pulled the weight a tenth of its way to 0 before the step:
  // w' = 0.9 x 0.9 w + 0.13, which stands still at 0.13 / 0.19 = 0.6842: below the 1.0 of a tool never called.
  let theirs = 1
  for (let round = 0; round < 200; round++) theirs = 0.9 * theirs + 0.1 * (1.3 - 0.9 * theirs)
  assert.equal(theirs.toFixed(3), '0.684')
  // Ours: w' = 0.9 w + 0.13, which stands still at 0.13 / 0.1; after n steps 1.3 - 0.3 x 0.9^n.
  for (const steps of [1, 2, 10, 50])
    assertNear(after(times(steps, success)).weight, 1.3 - 0.3 * 0.9 ** steps, `after ${steps}`)
  assertNear(after(times(1_000, success)).weight, 1.3, 'in the end')
  let last = 1
  for (let memory = after([success]); memory.attempts <= 100; memory = after([success], memory)) {
    assert.ok(memory.weight > last, 'each success makes it more')
    last = memory.weight
    last = memory.weight
  }
})

test('a tool that always fails sinks to the floor in 22 calls and stays there', () => {
  // The rate is 0 and so is the target: 0.9^21 = 0.1094, 0.9^22 = 0.0985.
  assertNear(after(times(21, failed)).weight, 0.9 ** 21, 'before the floor')
  assert.equal(after(times(22, failed)).weight, 0.1)
  const sunken = after(times(500, failed))
  assert.deepEqual([sunken.weight, sunken.recent], [0.1, 0.1])
})

test('a tool that was mended recovers', () => {
  // 22 failures, then successes: rate n/(22+n), average (0.3 n - 4.4)/(22+n).
  const sunken = after(times(22, failed))
  // The first: rate 1/23, average -4.1/23 = -0.17826, target 0.82174/23 = 0.0357278; 0.09 + 0.00357 is below the floor.
  assert.equal(after([success], sunken).weight, 0.1)
  assertNear(after([success], sunken).recent, 0.1 + 0.2 * 0.9, 'recent after one success')
  // Ten successes: recent 1 - 0.9 x 0.8^10 = 0.90337
  assertNear(after(times(10, success), sunken).recent, 1 - 0.9 * 0.8 ** 10, 'recent after ten')
  assert.ok(after(times(200, success), sunken).weight > 1)
})

test('after a thousand successes ten failures hardly move the weight, and recent shows them', () => {
  const proven = after(times(1_000, success))
  const broken = after(times(10, failed), proven)
  // rate 1000/1010 = 0.990099, average (300 - 2)/1010 = 0.295050, so the target is still 1.28223.
  assertNear(successRateOf(broken), 1_000 / 1_010, 'rate')
  assertNear(averageRewardOf(broken), 298 / 1_010, 'average')
  assert.ok(broken.weight > 1.28 && broken.weight < 1.3, `weight ${broken.weight}`)
  // 0.8^10 = 0.107374
  assertNear(broken.recent, 0.8 ** 10, 'recent')
  assert.equal(after([failed], broken).recent, 0.1, 'the floor')
  assert.ok(broken.weight * broken.recent < 0.14, 'what ranks it')
})

test('feedback counts to half a reward on average, so no weight passes 1.5', () => {
  // rate 1, average 1 is held at 0.5: target 1.5
  let memory = noMemory
  for (let round = 0; round < 300; round++) memory = weighFeedback(after([success], memory), 1, 0.3)
  assertNear(averageRewardOf(memory), 1, 'average')
  assertNear(memory.weight, 1.5, 'weight')
})

test('feedback on what has no outcomes any more moves nothing', () => {
  assert.equal(weighFeedback(noMemory, -1, 0.3), noMemory)
  assert.deepEqual([successRateOf(noMemory), averageRewardOf(noMemory)], [null, null])
})

test('the last failure stays while others succeed', () => {
  assert.deepEqual(after([failed, success]).lastFailure, { kind: 'tool_error', at })
})

test('whatever happens, every number stays within its bounds', () => {
  const event = fc.record({
    isSuccess: fc.boolean(),
    reward: fc.constantFrom(0.3, -0.2, -0.05),
    latencyMs: fc.option(fc.double({ noNaN: true, min: -1e9, max: 1e12 })),
    feedback: fc.option(fc.double({ noNaN: true, min: -1, max: 1 })),
  })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200 }), (events) => {
      let memory = noMemory
      for (const { isSuccess, reward, latencyMs, feedback } of events) {
        memory = weighOutcome(memory, { isSuccess, reward, latencyMs, failure: null })
        if (feedback !== null) memory = weighFeedback(memory, feedback, reward)
        assert.ok(memory.weight >= 0.1 && memory.weight <= 5)
        assert.ok(memory.recent >= 0.1 && memory.recent <= 1)
        assert.ok(memory.successes >= 0 && memory.successes <= memory.attempts)
      }
      assert.equal(memory.attempts, events.length)
      assert.equal(
        memory.latency.reduce((sum, count) => sum + count, 0),
        events.filter(({ latencyMs }) => latencyMs !== null).length,
      )
    }),
  )
})
