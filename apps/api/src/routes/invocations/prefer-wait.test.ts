import assert from 'node:assert/strict'
import { test } from 'node:test'
import { preferredWaitMs } from './prefer-wait.ts'

test('the wish to wait is found among other wishes, and shortened to a minute', () => {
  const cases: [string | undefined, number][] = [
    [undefined, 0],
    ['', 0],
    ['wait=10', 10_000],
    ['respond-async, wait=5', 5_000],
    ['WAIT = "7"; foo', 7_000],
    ['wait=60', 60_000],
    ['wait=3600', 60_000],
    ['wait=-1', 0],
    ['wait=1.5', 0],
    ['wait=', 0],
    ['await=5', 0],
    ['wait=9999999999999', 0],
  ]
  for (const [header, ms] of cases) assert.equal(preferredWaitMs(header, 0), ms, String(header))
})

test('where no wish to wait can be read, it is left at what the route does by itself', () => {
  for (const header of [undefined, '', 'return=representation', 'wait=', 'wait=soon'])
    assert.equal(preferredWaitMs(header, 60_000), 60_000, String(header))
  assert.equal(preferredWaitMs('return=representation, wait=0', 60_000), 0)
})
