import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { House } from '../house/open-house.ts'

export type Latency = { calls: number; p50Ms: number; p99Ms: number; worstMs: number }

/** Open loop: the next call comes at its time, whether the one before has been answered or not. */
export async function measureLatency(
  call: () => Promise<void>,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<Latency> {
  const beganAtMs = performance.now()
  const tookMs = await Promise.all(
    Array.from({ length: perSecond * seconds }, async (_, index) => {
      const dueAtMs = beganAtMs + (index * 1_000) / perSecond
      await delay(Math.max(0, dueAtMs - performance.now()))
      // From when it was due: what the caller comes late itself is told too.
      await call()
      return performance.now() - dueAtMs
    }),
  )
  const sorted = tookMs.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return { calls: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: sorted.at(-1) ?? 0 }
}

/** Closed loop for some seconds. */
export async function measureRate(
  call: () => Promise<void>,
  { inFlight, seconds }: { inFlight: number; seconds: number },
): Promise<number> {
  const beganAtMs = performance.now()
  const endsAtMs = beganAtMs + seconds * 1_000
  let done = 0
  const lane = async () => {
    while (performance.now() < endsAtMs) {
      await call()
      done += 1
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return done / ((performance.now() - beganAtMs) / 1_000)
}

/** A given number of calls. */
export async function measureBatch(
  call: () => Promise<void>,
  { inFlight, count }: { inFlight: number; count: number },
): Promise<number> {
  let next = 0
  const lane = async () => {
    while (next++ < count) await call()
  }
  const beganAtMs = performance.now()
  await Promise.all(Array.from({ length: inFlight }, lane))
  return count / ((performance.now() - beganAtMs) / 1_000)
}

/** What each process holds of the machine's memory now, by its name. */
export function residentBytes({ apps }: Pick<House, 'apps'>): Record<string, number> {
  return Object.fromEntries(
    apps.filter((app) => app.isRunning()).map((app) => [app.name, residentOf(app.pid())]),
  )
}

function residentOf(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? Number.NaN) * 1_024
}
