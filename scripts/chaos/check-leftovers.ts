import type { Violation } from './check-history.ts'
import type { Leftovers } from './history.ts'

/** Nothing is left of what was killed, and the queue is empty. */
export function checkLeftovers({ containers, jobs, badEnds }: Leftovers): Violation[] {
  const queued = jobs.waiting + jobs.active + jobs.delayed
  return [
    ...containers.map((name) => ({ rule: 'left', detail: `the container ${name} of a worker that is gone` })),
    ...(queued === 0 ? [] : [{ rule: 'left', detail: `jobs in the queue: ${JSON.stringify(jobs)}` }]),
    ...badEnds.map((detail) => ({ rule: 'drain', detail })),
  ]
}
