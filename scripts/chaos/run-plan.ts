import { setTimeout as delay } from 'node:timers/promises'
import type { Queues } from '@toolyard/queue/queues'
import { createQueues } from '@toolyard/queue/queues'
import { openEngine } from '@toolyard/sandbox/open-engine'
import type { House } from '../house/open-house.ts'
import type { Run } from '../house/open-witness.ts'
import { becomes } from '../services/machine/becomes.ts'
import type { Violation } from './check-history.ts'
import { checkHistory, tellStories } from './check-history.ts'
import type { ChaosGround } from './open-ground.ts'
import type { History, Leftovers, Loss, TickHistory } from './history.ts'
import type { Injection } from './inject-faults.ts'
import { injectFaults } from './inject-faults.ts'
import type { Calling } from './make-calls.ts'
import { makeCalls } from './make-calls.ts'
import type { Plan } from './plan-run.ts'
import { readHistory } from './read-history.ts'
import { isQuiet } from './is-quiet.ts'
import { turnClock } from './turn-clock.ts'

export type Ran = {
  plan: Plan
  history: History
  violations: Violation[]
  /** Everything known of each invocation that something is wrong with. */
  offending: ReturnType<typeof tellStories>
  diary: string[]
  figures: Figures
}

export type Figures = {
  seconds: number
  calls: number
  attempts: number
  starts: number
  effects: number
  ticks: number
  statuses: Record<string, number>
}

// A lease, its grace, three attempts with their pauses; then what a killed consumer's jobs take to come back.
const settleTimeoutMs = 240_000
const emptyTimeoutMs = 100_000
const callersTimeoutMs = 30_000

/** Runs one plan in a house that is open, waits until nothing moves, and judges what happened. */
export async function runPlan(
  { house, databases, witness }: Pick<ChaosGround, 'house' | 'databases' | 'witness'>,
  plan: Plan,
): Promise<Ran> {
  const startedAtMs = performance.now()
  const runsBefore = witness.runs().length
  const begunAtMs = Date.now()
  if (plan.isRinging) await turnClock(house, true)
  const losses: Loss[] = []
  const injection: Injection = { house, databases, losses, badEnds: [], diary: [], startedAtMs }
  const patience = new AbortController()
  const calling = makeCalls({ urls: house.urls, token: house.token, signal: patience.signal }, plan.calls)
  const [calls] = await Promise.all([
    calling.done,
    injectFaults(injection, plan.faults),
    injectFaults(injection, plan.absences),
    endPatience(calling, house, plan, patience),
  ])
  const left = await withQueues(house, (queues) => waitForEmpty(house, queues, injection.badEnds))
  const topics = `seed-${plan.seed}-%`
  const stored = await readHistory(house.pool, topics, begunAtMs)
  const { runs = [], tickRuns = [] } = splitRuns(witness.runs().slice(runsBefore), stored.ticks)
  const { isRinging } = plan
  const history: History = { calls, runs, isRinging, tickRuns, losses, left, ...stored }
  const violations = checkHistory(history)
  const wrong = new Set(violations.map(({ id }) => id))
  return {
    plan,
    history,
    violations,
    offending: tellStories(history).filter(({ row }) => wrong.has(row.id)),
    diary: injection.diary,
    figures: {
      seconds: Math.round((performance.now() - startedAtMs) / 1_000),
      calls: plan.calls.length,
      attempts: history.attempts.length,
      starts: runs.length,
      effects: runs.reduce((sum, { effects }) => sum + effects, 0),
      ticks: history.ticks.length,
      statuses: countBy(history.rows.map(({ status }) => status)),
    },
  }
}

/** Callers give up when all has ended and they have had time to hear of it, or when it does not end. */
async function endPatience(
  { submitted, done }: Calling,
  house: House,
  { calls, absences, faults, isRinging }: Plan,
  patience: AbortController,
): Promise<void> {
  const lastMs = Math.max(
    0,
    ...calls.map(({ atMs, delayMs }) => atMs + delayMs),
    ...[...absences, ...faults].map((fault) => fault.atMs + ('lastMs' in fault ? fault.lastMs : 0)),
  )
  await Promise.all([delay(lastMs), submitted])
  if (isRinging) await turnClock(house, false)
  await becomes(() => isQuiet(house.pool), settleTimeoutMs)
  await Promise.race([done, delay(callersTimeoutMs, 'late', { ref: false })])
  patience.abort()
}

function splitRuns(all: readonly Run[], ticks: readonly TickHistory[]) {
  const ofTicks = new Set(ticks.map(({ invocation }) => invocation))
  return Object.groupBy(all, ({ invocation }) => (ofTicks.has(invocation) ? 'tickRuns' : 'runs'))
}

async function waitForEmpty(house: House, queues: Queues, badEnds: string[]): Promise<Leftovers> {
  let left: Leftovers = { containers: [], jobs: { waiting: 0, active: 0, delayed: 0 }, badEnds }
  await becomes(async () => {
    const [containers, jobs] = await Promise.all([deadContainers(house), queues.counts('invocations')])
    left = { containers, jobs, badEnds }
    return containers.length === 0 && jobs.waiting + jobs.active + jobs.delayed === 0
  }, emptyTimeoutMs)
  return left
}

/** Those that belong to no worker that is listed. */
async function deadContainers({ pool, dockerHost, instance }: House): Promise<string[]> {
  const filters = { label: [`toolyard.instance=${instance}`] }
  const [containers, live] = await Promise.all([
    openEngine(dockerHost).listContainers({ all: true, filters }),
    pool.query<{ id: string }>(
      `select id from processes where kind = 'worker' and seen_at > clock_timestamp() - interval '15 seconds'`,
    ),
  ])
  const workers = new Set(live.rows.map(({ id }) => id))
  return containers
    .filter(({ Labels }) => !workers.has(Labels['toolyard.worker'] ?? ''))
    .map(({ Id, Labels, State }) => `${Id.slice(0, 12)} (${Labels['toolyard.tool']}, ${State})`)
}

async function withQueues<T>(house: House, work: (queues: Queues) => Promise<T>): Promise<T> {
  const { databaseUrl, redis, redisPrefix } = house
  const queues = createQueues({
    databaseUrl,
    redisUrl: redis?.url,
    redisPrefix,
    poolMax: 4,
    applicationName: 'toolyard-chaos',
    onError: () => {},
  })
  try {
    return await work(queues)
  } finally {
    await queues.close()
  }
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
