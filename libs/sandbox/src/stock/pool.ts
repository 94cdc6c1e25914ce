import type { Launched } from '../launcher.ts'
import type { TakeFailure } from '../outcome.ts'
import type { SandboxSpec } from '../sandboxes.ts'
import type { ArrivalRate } from './arrival-rate.ts'
import { rateAt } from './arrival-rate.ts'
import type { PoolState } from './plan-stock.ts'

/** What is known of one spec: its sandboxes that are ready, and who waits for one. */
export type Pool = {
  readonly key: string
  readonly spec: SandboxSpec
  minimum: number
  rate: ArrivalRate
  lastCallAt: number | undefined
  startMs: number
  /** Oldest first. */
  ready: { launched: Launched; since: number }[]
  launching: number
  waiters: Waiter[]
  failureCount: number
  pausedUntil: number
}

/** Called once, with what it waited for or why that will not come. */
export type Waiter = (answer: { launched: Launched } | TakeFailure) => void

// A guess until the first start is measured.
const firstStartMs = 500
const newWeight = 0.3
const pauseMinMs = 1_000
const pauseMaxMs = 30_000
const forgottenAfterMs = 900_000

export function createPool(key: string, spec: SandboxSpec): Pool {
  return {
    key,
    spec,
    minimum: 0,
    rate: { perSecond: 0, at: 0 },
    lastCallAt: undefined,
    startMs: firstStartMs,
    ready: [],
    launching: 0,
    waiters: [],
    failureCount: 0,
    pausedUntil: 0,
  }
}

/** Equal for specs whose sandboxes can stand in for each other. */
export function poolKey(spec: SandboxSpec): string {
  const { tool, image, entrypoint, input, user, volumes, memoryBytes, cpus, network, writable, reuse } = spec
  return JSON.stringify([
    tool,
    image,
    entrypoint,
    input,
    user?.uid,
    user?.gid,
    volumes,
    memoryBytes,
    cpus,
    network,
    writable,
    reuse,
  ])
}

export function poolState(pool: Pool, now: number): PoolState {
  return {
    key: pool.key,
    minimum: pool.minimum,
    ratePerSecond: rateAt(pool.rate, now),
    ...(pool.lastCallAt === undefined ? {} : { lastCallAt: pool.lastCallAt }),
    startMs: pool.startMs,
    readySince: pool.ready.map(({ since }) => since),
    launching: pool.launching,
    waiting: pool.waiters.length,
    pausedUntil: pool.pausedUntil,
  }
}

export function noteStart(pool: Pool, startMs: number): void {
  pool.startMs += newWeight * (startMs - pool.startMs)
  pool.failureCount = 0
}

export function noteFailure(pool: Pool, now: number): void {
  pool.pausedUntil = now + Math.min(pauseMaxMs, pauseMinMs * 2 ** pool.failureCount)
  pool.failureCount++
}

export function isForgotten(pool: Pool, now: number): boolean {
  const isQuiet = pool.lastCallAt === undefined || now - pool.lastCallAt > forgottenAfterMs
  return isQuiet && pool.minimum === 0 && pool.ready.length + pool.launching + pool.waiters.length === 0
}
