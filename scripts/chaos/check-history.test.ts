import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Violation } from './check-history.ts'
import { checkHistory } from './check-history.ts'
import { someHistory } from './fixtures/some-history.ts'
import type {
  AttemptHistory,
  CallHistory,
  History,
  MemoryHistory,
  RowHistory,
  TickHistory,
} from './history.ts'
import type { Run } from '../house/open-witness.ts'

type Doctor = (history: History) => History

const call =
  (index: number, change: Partial<CallHistory>): Doctor =>
  (history) => ({
    ...history,
    calls: history.calls.map((one, place) => (place === index ? { ...one, ...change } : one)),
  })

const row =
  (id: string, change: Partial<RowHistory>): Doctor =>
  (history) => ({
    ...history,
    rows: history.rows.map((one) => (one.id === id ? { ...one, ...change } : one)),
  })

const attempt =
  (id: string, number: number, change: Partial<AttemptHistory>): Doctor =>
  (history) => ({
    ...history,
    attempts: history.attempts.map((one) =>
      one.invocation === id && one.attempt === number ? { ...one, ...change } : one,
    ),
  })

const run =
  (id: string, number: number, change: Partial<Run>): Doctor =>
  (history) => ({
    ...history,
    runs: history.runs.map((one) =>
      one.invocation === id && one.attempt === number ? { ...one, ...change } : one,
    ),
  })

const oneMoreRun =
  (more: Partial<Run>): Doctor =>
  (history) => ({
    ...history,
    runs: [
      ...history.runs,
      { invocation: 'inv_b', attempt: 1, startedAtMs: 1_400, lastAliveAtMs: 1_500, effects: 0, ...more },
    ],
  })

const memory =
  (change: (memories: MemoryHistory[]) => MemoryHistory[]): Doctor =>
  (history) => ({ ...history, memory: change(history.memory) })

const overall = (change: Partial<MemoryHistory>) =>
  memory((all) =>
    all.map((one) => (one.tool === 'chaos_quick' && one.topic === null ? { ...one, ...change } : one)),
  )

const left =
  (change: Partial<History['left']>): Doctor =>
  (history) => ({ ...history, left: { ...history.left, ...change } })

const ticks =
  (change: (ticks: History['ticks']) => History['ticks']): Doctor =>
  (history) => ({ ...history, ticks: change(history.ticks) })

const tick = (change: Partial<TickHistory>) =>
  ticks((all) => all.map((one, place) => (place === 1 ? { ...one, ...change } : one)))

const oneMoreTickRun: Doctor = (history) => ({
  ...history,
  tickRuns: history.tickRuns.flatMap((one) => [one, one]),
})

const second: AttemptHistory = {
  invocation: 'inv_b',
  attempt: 2,
  worker: 'w1',
  claimedAtMs: 3_000,
  handedOverAtMs: 3_000,
  endedAtMs: 3_100,
  endReason: 'failed',
}

const faults: { what: string; rule: string; id?: string; doctor: Doctor[] }[] = [
  { what: 'the clock never rang', rule: 'ticks', doctor: [ticks(() => [])] },
  { what: 'a tick is missing', rule: 'ticks', doctor: [tick({ atMs: 6_000 })] },
  { what: 'a tick came twice', rule: 'ticks', doctor: [tick({ atMs: 2_000 })] },
  { what: 'a tick was missed', rule: 'ticks', doctor: [tick({ fate: 'missed', invocation: null })] },
  { what: 'a tick has not ended', rule: 'ticks', id: 'inv_t2', doctor: [tick({ status: null })] },
  { what: 'two ticks are one call', rule: 'ticks', doctor: [tick({ invocation: 'inv_t1', attempts: 1 })] },
  { what: 'an attempt of a tick ran twice', rule: 'ticks', doctor: [oneMoreTickRun] },
  {
    what: 'a tick succeeded without its effect',
    rule: 'ticks',
    id: 'inv_t2',
    doctor: [tick({ status: 'succeeded' })],
  },
  { what: 'an accepted one is gone', rule: 'I1', id: 'inv_b', doctor: [drop('inv_b')] },
  {
    what: 'one never ended',
    rule: 'I1',
    id: 'inv_a',
    doctor: [row('inv_a', { status: 'running', gate: 'open' })],
  },
  { what: 'a final row is still open', rule: 'I1', id: 'inv_a', doctor: [row('inv_a', { gate: 'open' })] },
  { what: 'one expired', rule: 'I1', id: 'inv_b', doctor: [row('inv_b', { status: 'expired' })] },
  {
    what: 'a caller had been told another end',
    rule: 'I1',
    id: 'inv_a',
    doctor: [call(0, { seen: [{ id: 'inv_a', status: 'failed' }] })],
  },
  { what: 'a success has no result', rule: 'I1', id: 'inv_a', doctor: [row('inv_a', { resultText: null })] },
  {
    what: 'a failure has a result',
    rule: 'I1',
    id: 'inv_b',
    doctor: [row('inv_b', { resultText: 'inv_b 1' })],
  },
  {
    what: 'an attempt has no end',
    rule: 'I1',
    id: 'inv_a',
    doctor: [attempt('inv_a', 1, { endedAtMs: null })],
  },
  {
    what: 'something ran for nobody',
    rule: 'I1',
    id: 'inv_c',
    doctor: [oneMoreRun({ invocation: 'inv_c' })],
  },
  {
    what: 'the result is that of the attempt before',
    rule: 'I2',
    id: 'inv_a',
    doctor: [row('inv_a', { resultText: 'inv_a 1' })],
  },
  {
    what: 'the result is that of another invocation',
    rule: 'I2',
    id: 'inv_a',
    doctor: [row('inv_a', { resultText: 'inv_b 2' })],
  },
  {
    what: 'the failure is that of the attempt before',
    rule: 'I2',
    id: 'inv_b',
    doctor: [row('inv_b', { failureMessage: 'inv_b 0' })],
  },
  {
    what: 'the answer came without an effect',
    rule: 'I2',
    id: 'inv_a',
    doctor: [run('inv_a', 2, { effects: 0 })],
  },
  {
    what: 'it timed out and was never seen',
    rule: 'I2',
    id: 'inv_b',
    doctor: [
      row('inv_b', { status: 'timed_out', failureKind: 'timeout', failureMessage: 'late' }),
      run('inv_b', 1, { invocation: 'inv_a', attempt: 2, lastAliveAtMs: 2_000 }),
    ],
  },
  { what: 'attempts are not counted', rule: 'I2', id: 'inv_a', doctor: [row('inv_a', { attempts: 3 })] },
  {
    what: 'it ran as an attempt that there never was',
    rule: 'I2',
    id: 'inv_a',
    doctor: [run('inv_a', 2, { attempt: 3 })],
  },
  {
    what: 'it ran and was never handed over',
    rule: 'I2',
    id: 'inv_a',
    doctor: [attempt('inv_a', 2, { handedOverAtMs: null })],
  },
  {
    what: 'it ran before it was claimed',
    rule: 'I2',
    id: 'inv_a',
    doctor: [run('inv_a', 2, { startedAtMs: 42_999 })],
  },
  { what: 'there are two outcomes', rule: 'I3', id: 'inv_a', doctor: [row('inv_a', { outcomes: 2 })] },
  { what: 'there is no outcome', rule: 'I3', id: 'inv_a', doctor: [row('inv_a', { outcomes: 0 })] },
  { what: 'an effect came twice', rule: 'I3', id: 'inv_a', doctor: [run('inv_a', 2, { effects: 2 })] },
  { what: 'the memory moved twice', rule: 'I3', doctor: [overall({ attempts: 2 })] },
  { what: 'the memory missed a success', rule: 'I3', doctor: [overall({ successes: 0 })] },
  { what: 'the memory has another reward', rule: 'I3', doctor: [overall({ rewardSum: 0.6 })] },
  {
    what: 'the memory of a topic did not move',
    rule: 'I3',
    doctor: [memory((all) => all.filter(({ topic }) => topic === null))],
  },
  {
    what: 'the memory moved for what does not count',
    rule: 'I3',
    doctor: [
      memory((all) => [
        ...all,
        { tool: 'chaos_slow', topic: null, attempts: 1, successes: 0, rewardSum: -0.2 },
      ]),
    ],
  },
  {
    what: 'the attempt before lived when the next was claimed',
    rule: 'I5',
    id: 'inv_a',
    doctor: [run('inv_a', 1, { lastAliveAtMs: 43_001 }), (history) => ({ ...history, losses: [] })],
  },
  {
    what: 'a tool lived on after the end was written',
    rule: 'I5',
    id: 'inv_b',
    doctor: [run('inv_b', 1, { lastAliveAtMs: 3_001 })],
  },
  {
    what: 'an attempt was claimed before the one before had ended',
    rule: 'I5',
    id: 'inv_a',
    doctor: [attempt('inv_a', 1, { endedAtMs: 43_001 })],
  },
  { what: 'an attempt was started twice', rule: 'I5', id: 'inv_b', doctor: [oneMoreRun({})] },
  {
    what: 'a tool outlived its killed worker by more than 10 s',
    rule: 'I5',
    id: 'inv_a',
    doctor: [run('inv_a', 1, { lastAliveAtMs: 12_001 })],
  },
  {
    what: 'a tool outlived its stopped worker by more than 10 s',
    rule: 'I5',
    id: 'inv_a',
    doctor: [
      run('inv_a', 1, { lastAliveAtMs: 12_001 }),
      (history) => ({ ...history, losses: [{ worker: 'w1', kind: 'paused', atMs: 2_000 }] }),
    ],
  },
  {
    what: 'what must not run twice was handed over twice',
    rule: 'rerun',
    id: 'inv_b',
    doctor: [
      row('inv_b', { attempts: 2, failureMessage: 'inv_b 2' }),
      (history) => ({ ...history, attempts: [...history.attempts, second] }),
      attempt('inv_b', 1, { endedAtMs: 2_950 }),
    ],
  },
  {
    what: 'what must not run twice was started twice',
    rule: 'rerun',
    id: 'inv_b',
    doctor: [oneMoreRun({ attempt: 2 })],
  },
  { what: 'it ran before its time', rule: 'delay', id: 'inv_b', doctor: [row('inv_b', { dueAtMs: 1_301 })] },
  {
    what: 'its cancelling was accepted and it succeeded',
    rule: 'cancel',
    id: 'inv_a',
    doctor: [call(0, { cancelled: 202 })],
  },
  {
    what: 'one key made two',
    rule: 'idempotency',
    doctor: [
      call(0, {
        accepted: [
          { id: 'inv_a', status: 'queued' },
          { id: 'inv_b', status: 'queued' },
        ],
      }),
    ],
  },
  {
    what: 'there are more than were asked for',
    rule: 'idempotency',
    doctor: [call(1, { accepted: [] }), extra('inv_c')],
  },
  { what: 'a call was refused', rule: 'accepts', doctor: [call(0, { refused: ['422 no'] })] },
  { what: 'a container is left', rule: 'left', doctor: [left({ containers: ['abc'] })] },
  { what: 'a job is left', rule: 'left', doctor: [left({ jobs: { waiting: 0, active: 1, delayed: 0 } })] },
  { what: 'a process ended badly', rule: 'drain', doctor: [left({ badEnds: ['worker-1 drained with 1'] })] },
]

for (const { what, rule, id, doctor } of faults)
  test(`the checker sees that ${what}`, () => {
    const doctored = doctor.reduce((history, change) => change(history), someHistory())
    const violations = checkHistory(doctored)
    const isIt = (one: Violation) => one.rule === rule && (id === undefined || one.id === id)
    assert.ok(violations.some(isIt), JSON.stringify(violations))
  })

test('a history in which all promises were kept has nothing against it', () => {
  assert.deepEqual(checkHistory(someHistory()), [])
})

test('an invocation of a request without key and answer is nobody’s fault', () => {
  const lost = call(1, { accepted: [], unanswered: 1, cancelled: undefined })
  assert.deepEqual(checkHistory(lost(someHistory())), [])
})

test('a worker that was cut off may let its tools live for as long as its lease', () => {
  const cut: Doctor = (history) => ({ ...history, losses: [{ worker: 'w1', kind: 'cut', atMs: 2_000 }] })
  assert.deepEqual(checkHistory(cut(run('inv_a', 1, { lastAliveAtMs: 27_000 })(someHistory()))), [])
})

function drop(id: string): Doctor {
  return (history) => ({ ...history, rows: history.rows.filter((one) => one.id !== id) })
}

function extra(id: string): Doctor {
  return (history) => ({
    ...history,
    rows: history.rows.flatMap((one) => (one.id === 'inv_b' ? [one, { ...one, id }] : [one])),
  })
}
