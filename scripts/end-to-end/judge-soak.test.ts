import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeSoak } from './judge-soak.ts'
import type { Sample, SoakReport } from './soak-house.ts'

const mebibyte = 1_048_576

/** Forty samples; `change` says what grows with the share of the time that is over. */
function soak(change: (over: number) => Partial<Sample> = () => ({})): SoakReport {
  const samples = Array.from({ length: 40 }, (_, index) => ({
    atSeconds: index,
    residentBytes: { api: 100 * mebibyte },
    jobs: 10,
    open: 12,
    bytesPerRow: 1_000,
    queueBytes: 5 * mebibyte,
    ...change((index + 1) / 40),
  }))
  return {
    queue: 'postgres',
    sustainedPerSecond: 100,
    perSecond: 80,
    calls: 800,
    failed: [],
    samples,
  }
}

test('what stays as it is has nothing against it, nor what grows by less than a twentieth', () => {
  assert.deepEqual(judgeSoak(soak()), [])
  const slightly = (over: number) => ({ residentBytes: { api: (100 + 5 * over) * mebibyte } })
  assert.deepEqual(judgeSoak(soak(slightly)), [])
})

test('a leak, a bloated table, a growing queue, a backlog and a failed call are each told', () => {
  const leaks = (over: number) => ({ residentBytes: { api: (100 + 20 * over) * mebibyte } })
  assert.match(judgeSoak(soak(leaks)).join(), /api holds 11\d\.\d MiB in place of 10\d\.\d MiB/)
  assert.match(judgeSoak(soak((over) => ({ bytesPerRow: 1_000 * (1 + over) }))).join(), /a row takes/)
  const queue = (over: number) => ({ queueBytes: 50 * over * mebibyte })
  assert.match(judgeSoak(soak(queue)).join(), /the tables of the queue grew/)
  assert.match(judgeSoak(soak((over) => ({ open: 400 * over }))).join(), /calls wait, at 80 a second/)
  assert.deepEqual(judgeSoak({ ...soak(), failed: ['no'] }), ['no'])
})
