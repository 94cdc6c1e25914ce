import type { QueueKind } from '../house/open-house.ts'
import type { Random } from './random.ts'
import { createRandom } from './random.ts'
import type { ChaosTool } from './tools.ts'
import { tools } from './tools.ts'

// Pure: what a seed stands for. One seed is always the same calls and the same faults at the same times; what comes of
// them is the machine's.

export type PlannedCall = {
  index: number
  atMs: number
  tool: string
  topic: string
  params: { ms: number; failures: number }
  priority: number
  delayMs: number
  /** Asked again with the same key and body, so many times; null: without a key, and so never again. */
  repeats: number | null
  /** `Prefer: wait`. */
  waitSeconds: number
  cancelAfterMs: number | undefined
  /** The caller waits for the end by long polls. */
  follows: boolean
}

export type PlannedFault =
  | { kind: 'kill_worker' | 'drain_worker'; atMs: number; worker: number }
  | { kind: 'pause_worker'; atMs: number; worker: number; lastMs: number }
  | { kind: 'cut_worker'; atMs: number; worker: number; lastMs: number; how: 'stall' | 'cut' }
  | { kind: 'kill_api'; atMs: number; api: number }
  | { kind: 'restart_postgres'; atMs: number; signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL' }
  | { kind: 'restart_engine'; atMs: number; how: 'ask' | 'kill' }
  | { kind: 'wipe_queue' | 'restart_redis' | 'kill_scheduler'; atMs: number }

export type Plan = {
  seed: number
  calls: PlannedCall[]
  /** One after the other, none before its time. */
  faults: PlannedFault[]
  /** Beside the others, because each takes a worker away for longer than its lease. */
  absences: PlannedFault[]
  /** Whether a clock rings meanwhile. */
  isRinging: boolean
}

export type PlanOptions = {
  queue: QueueKind
  invocations: number
  apis: number
  ownsEngine: boolean
  /** Each kind of fault once; else up to three times. */
  isShort: boolean
}

const callsPerSecond = 10
const topicsCount = 3
// A lease has 30 s and 10 s of grace; what is longer has been taken back.
const absenceMs = { min: 32_000, max: 45_000 }

export function planRun(seed: number, options: PlanOptions): Plan {
  const random = createRandom(seed)
  const spanMs = (options.invocations / callsPerSecond) * 1_000
  const calls = Array.from({ length: options.invocations }, (_, index) =>
    planCall(random, { index, atMs: random.between(0, spanMs), seed }),
  )
  return {
    seed,
    calls: calls.toSorted((a, b) => a.atMs - b.atMs),
    faults: planFaults(random, spanMs, options),
    absences: [planAbsence(random)],
    isRinging: true,
  }
}

type Place = { index: number; atMs: number; seed: number }

function planCall(random: Random, { index, atMs, seed }: Place): PlannedCall {
  const tool = pickTool(random)
  const isLong = tool.longestMs >= 1_000
  return {
    index,
    atMs,
    tool: tool.name,
    topic: `seed-${seed}-${random.between(1, topicsCount)}`,
    params: {
      ms: random.between(0, tool.longestMs),
      failures: tool.mode === 'flaky' ? random.between(0, 4) : 0,
    },
    priority: random.between(0, 9),
    delayMs: random.chance(0.1) ? random.between(200, 8_000) : 0,
    repeats: random.chance(0.15) ? null : random.chance(0.15) ? random.between(1, 5) : 0,
    waitSeconds: random.chance(0.2) ? random.between(1, 10) : 0,
    cancelAfterMs: random.chance(isLong ? 0.15 : 0.03) ? random.between(0, 3_000) : undefined,
    follows: random.chance(0.25),
  }
}

function pickTool(random: Random): ChaosTool {
  let left = random.next() * tools.reduce((sum, { share }) => sum + share, 0)
  for (const tool of tools) {
    left -= tool.share
    if (left < 0) return tool
  }
  return tools[0]
}

function planFaults(random: Random, spanMs: number, options: PlanOptions): PlannedFault[] {
  const { queue, ownsEngine, isShort, apis } = options
  const makers: ((atMs: number) => PlannedFault)[] = [
    (atMs) => ({ kind: 'kill_worker', atMs, worker: 1 }),
    (atMs) => ({ kind: 'drain_worker', atMs, worker: 1 }),
    (atMs) => ({ kind: 'kill_api', atMs, api: random.between(0, apis - 1) }),
    (atMs) => ({ kind: 'restart_postgres', atMs, signal: random.pick(['SIGINT', 'SIGQUIT', 'SIGKILL']) }),
    (atMs) => ({ kind: 'wipe_queue', atMs }),
    (atMs) => ({ kind: 'kill_scheduler', atMs }),
    ...(queue === 'redis' ? [(atMs: number): PlannedFault => ({ kind: 'restart_redis', atMs })] : []),
    ...(ownsEngine
      ? [
          (atMs: number): PlannedFault => ({
            kind: 'restart_engine',
            atMs,
            how: random.pick(['ask', 'kill']),
          }),
        ]
      : []),
  ]
  // Each once, so that no seed leaves one out; a long run has some of them again.
  const wanted = isShort
    ? makers
    : makers.flatMap((make) => Array.from({ length: random.between(1, 2) }, () => make))
  const ordered = wanted.map((make) => ({ make, at: random.next() })).toSorted((a, b) => a.at - b.at)
  // The first comes when there is something to break; the last while calls still come.
  const stepMs = spanMs / (ordered.length + 1)
  return ordered.map(({ make }, place) => make(Math.round(stepMs * (place + 0.5 + random.next() / 2))))
}

function planAbsence(random: Random): PlannedFault {
  const when = { atMs: random.between(1_500, 4_000), worker: 0 }
  const lastMs = random.between(absenceMs.min, absenceMs.max)
  return random.chance(0.5)
    ? { kind: 'pause_worker', ...when, lastMs }
    : { kind: 'cut_worker', ...when, lastMs, how: random.pick(['stall', 'cut']) }
}
