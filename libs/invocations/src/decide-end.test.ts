import assert from 'node:assert/strict'
import { test } from 'node:test'
import { combinations } from '../fixtures/combinations.ts'
import { engineGone, failure, success } from '../fixtures/outcomes.ts'
import type { AttemptFacts, AttemptOutcome } from './decide-end.ts'
import { backoffMs, decideEnd } from './decide-end.ts'
import type { FailureClass, FailureKind } from '@toolyard/contract/invocations'
import { attemptsMax } from './limits.ts'
import { rewardOf } from './reward.ts'

const fresh: AttemptFacts = {
  cancelRequested: false,
  attempts: 1,
  isHandedOver: true,
  rerun: true,
  retriesMax: 0,
  toolFailures: 0,
  infraFailures: 0,
}
const stopped: AttemptOutcome = { kind: 'stopped' }
const outcomes: AttemptOutcome[] = [success, failure, engineGone, stopped]

const failed = (kind: FailureKind, failureClass: FailureClass = 'internal'): AttemptOutcome => ({
  kind: 'failed',
  failure: { kind, class: failureClass, message: 'm' },
})

function say(facts: Partial<AttemptFacts>, outcome: AttemptOutcome): string {
  const end = decideEnd({ ...fresh, ...facts }, outcome, 0)
  return end.kind === 'again'
    ? `again ${end.fault} ${end.delayMs}`
    : `${end.status} ${end.failure?.kind ?? ''}`
}

test('every combination of facts and outcomes ends, and within its limits', () => {
  const flags = [true, false]
  const counts = [0, 1, 2, 3]
  const every = combinations({
    outcome: outcomes,
    cancelRequested: flags,
    isHandedOver: flags,
    rerun: flags,
    retriesMax: counts,
    toolFailures: counts,
    infraFailures: counts,
  })
  assert.equal(every.length, 4 * 2 ** 3 * 4 ** 3)
  for (const { outcome, ...facts } of every) {
    const { cancelRequested, isHandedOver, rerun, retriesMax, toolFailures, infraFailures } = facts
    const end = decideEnd({ ...fresh, ...facts }, outcome, 0.5)
    if (cancelRequested) assert.equal(end.kind === 'close' && end.status, 'cancelled')
    if (end.kind === 'close') {
      assert.equal(end.result !== null, end.status === 'succeeded')
      assert.equal(end.failure === null, end.status === 'succeeded')
      continue
    }
    assert.ok(rerun || !isHandedOver, 'what may not run twice runs twice')
    assert.notEqual(outcome.kind, 'succeeded')
    if (end.fault === 'tool') assert.ok(toolFailures < retriesMax)
    if (end.fault === 'infrastructure') assert.ok(infraFailures < 2)
  }
})

test('success, the failures of tools and of ours end differently', () => {
  assert.equal(say({}, success), 'succeeded ')
  assert.equal(say({}, failed('timeout')), 'timed_out timeout')
  assert.equal(say({}, failed('exit_nonzero')), 'failed exit_nonzero')
  assert.equal(say({}, engineGone), 'again infrastructure 1000')
  assert.equal(say({ infraFailures: 1 }, engineGone), 'again infrastructure 2000')
  assert.equal(say({ infraFailures: 2 }, engineGone), 'failed image_unavailable')
  assert.equal(say({}, stopped), 'again none 0')
})

test('a failure is tried again while retries are left; what would be too large again is not', () => {
  assert.equal(say({ retriesMax: 1 }, failed('timeout')), 'again tool 1000')
  assert.equal(say({ retriesMax: 1, toolFailures: 1 }, failed('timeout')), 'timed_out timeout')
  assert.equal(say({ retriesMax: 1 }, failed('payload_too_large')), 'failed payload_too_large')
  assert.equal(say({ retriesMax: 1, rerun: false }, failed('timeout')), 'timed_out timeout')
})

test('what may not run twice is lost with its sandbox, from the handover on', () => {
  const once = { rerun: false, isHandedOver: false }
  assert.equal(say(once, engineGone), 'again infrastructure 1000')
  assert.equal(say(once, stopped), 'again none 0')
  assert.equal(say({ ...once, isHandedOver: true }, stopped), 'failed sandbox_lost')
  assert.equal(say(once, { ...engineGone, isHandedOver: true }), 'failed sandbox_lost')
})

test('handing back ends too', () => {
  assert.equal(say({ attempts: attemptsMax }, stopped), 'failed internal')
})

test('only what the tool had a part in counts', () => {
  assert.equal(rewardOf('succeeded', null), 0.3)
  const of = (failureClass: FailureClass) => ({ kind: 'timeout', class: failureClass, message: '' }) as const
  assert.equal(rewardOf('failed', of('internal')), -0.2)
  assert.equal(rewardOf('timed_out', of('internal')), -0.2)
  assert.equal(rewardOf('failed', of('external')), -0.05)
  assert.equal(rewardOf('failed', of('platform')), null)
  assert.equal(rewardOf('cancelled', of('caller')), null)
  assert.equal(rewardOf('expired', of('platform')), null)
})

test('the pause grows to a minute and is spread by a quarter', () => {
  assert.deepEqual(
    [0, 1, 2, 6, 100].map((failures) => backoffMs(failures, 0)),
    [1_000, 2_000, 4_000, 60_000, 60_000],
  )
  assert.equal(backoffMs(0, 1), 1_250)
})
