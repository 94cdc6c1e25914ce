import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planRun } from './plan-run.ts'
import { tools } from './tools.ts'

const long = { queue: 'redis', invocations: 400, apis: 2, ownsEngine: true, isShort: false } as const
const short = { ...long, invocations: 150, isShort: true } as const

test('one seed is always the same plan, another seed another one', () => {
  assert.deepEqual(planRun(7, long), planRun(7, long))
  assert.notDeepEqual(planRun(7, long).calls, planRun(8, long).calls)
})

test('every seed has every kind of fault that its ground knows, and a worker away for longer than its lease', () => {
  const quick = [
    'drain_worker',
    'kill_api',
    'kill_scheduler',
    'kill_worker',
    'restart_postgres',
    'wipe_queue',
  ]
  for (let seed = 1; seed <= 50; seed++) {
    for (const [options, more] of [
      [long, ['restart_engine', 'restart_redis']],
      [short, ['restart_engine', 'restart_redis']],
      [{ ...short, queue: 'postgres', ownsEngine: false }, []],
    ] as const) {
      const { faults, absences } = planRun(seed, options)
      const kinds = new Set(faults.map(({ kind }) => kind))
      assert.deepEqual([...kinds].toSorted(), [...quick, ...more].toSorted())
      assert.ok(absences.every((fault) => 'lastMs' in fault && fault.lastMs > 30_000))
      assert.ok(faults.every(({ atMs }, place) => atMs >= (faults[place - 1]?.atMs ?? 0)))
    }
  }
})

test('over some seeds a worker is stopped, stalled and cut off, and four calls in five may reuse a sandbox', () => {
  const plans = Array.from({ length: 40 }, (_, seed) => planRun(seed, long))
  const ways = plans.flatMap(({ absences }) => absences.map((one) => ('how' in one ? one.how : one.kind)))
  assert.deepEqual([...new Set(ways)].toSorted(), ['cut', 'pause_worker', 'stall'])
  const calls = plans.flatMap((plan) => plan.calls)
  const fresh = new Set(tools.filter(({ sandbox }) => sandbox?.reuse === 1).map(({ name }) => name))
  const share = calls.filter(({ tool }) => fresh.has(tool)).length / calls.length
  assert.ok(share > 0.18 && share < 0.22, String(share))
  assert.equal(new Set(calls.map(({ tool }) => tool)).size, tools.filter((one) => one.share > 0).length)
  assert.ok(calls.some(({ cancelAfterMs }) => cancelAfterMs !== undefined))
  assert.ok(calls.some(({ repeats }) => repeats === null) && calls.some(({ repeats }) => (repeats ?? 0) > 0))
})
