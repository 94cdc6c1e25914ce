import type { WitnessTool } from '../house/write-witness-tools.ts'

/** Of a hundred calls, how many are to this one; the most milliseconds that one of them takes. */
export type ChaosTool = WitnessTool & { share: number; longestMs: number }

// Four in five are called in sandboxes that are used again: the engine makes no more than seven a second, and those
// would be all that is tested.
const reused = { reuse: 500 }

export const tools: readonly [ChaosTool, ...ChaosTool[]] = [
  { name: 'chaos_quick', mode: 'run', sandbox: reused, share: 28, longestMs: 60 },
  {
    name: 'chaos_slow',
    mode: 'run',
    constraints: { timeout_seconds: 60 },
    sandbox: reused,
    share: 18,
    longestMs: 6_000,
  },
  { name: 'chaos_failing', mode: 'fail', sandbox: reused, share: 10, longestMs: 300 },
  {
    name: 'chaos_flaky',
    mode: 'flaky',
    constraints: { retries: 3 },
    sandbox: reused,
    share: 8,
    longestMs: 400,
  },
  {
    name: 'chaos_once',
    mode: 'run',
    constraints: { rerun: false },
    sandbox: reused,
    share: 13,
    longestMs: 4_000,
  },
  {
    name: 'chaos_hang',
    mode: 'hang',
    constraints: { timeout_seconds: 1.5 },
    sandbox: reused,
    share: 3,
    longestMs: 0,
  },
  // Nobody calls it.
  { name: 'chaos_clock', mode: 'run', sandbox: reused, schedule: '*/2 * * * * *', share: 0, longestMs: 0 },
  { name: 'chaos_fresh', mode: 'run', sandbox: { reuse: 1 }, share: 20, longestMs: 1_000 },
]
