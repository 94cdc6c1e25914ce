import type { LaunchFailure, Launched, Launcher } from '../launcher.ts'
import type { TakeFailure } from '../outcome.ts'
import type { SandboxSpec } from '../sandboxes.ts'
import { countArrival } from './arrival-rate.ts'
import type { StockLimits } from './plan-stock.ts'
import { planStock } from './plan-stock.ts'
import type { Pool, Waiter } from './pool.ts'
import { createPool, isForgotten, noteFailure, noteStart, poolKey, poolState } from './pool.ts'

// Sandboxes that are started and wait for their payload. Who asks gets one that is ready; where there is none, one is
// started, and whoever waits longest gets the first that comes. plan-stock.ts decides; this does it.

export type StockEvent =
  | { kind: 'started'; tool: string; startMs: number }
  | { kind: 'start_failed'; tool: string; failure: LaunchFailure }
  | { kind: 'taken'; tool: string; source: Source; waitMs: number; ageMs: number }
  | { kind: 'retired'; tool: string; reason: 'surplus' | 'idle' | 'dead' }

export type Source = 'stock' | 'reused' | 'started'

export type StockCounts = { ready: number; kept: number; launching: number; waiting: number }

/** One that has served this topic, or is about to for the first time. */
export type Held = { spec: SandboxSpec; topic: string; launched: Launched; useCount: number; source: Source }

export type StockOptions = {
  launcher: Launcher
  limits: StockLimits
  /** Asked before a start ahead of need. */
  isCoreWanted: () => boolean
  now: () => number
  onEvent: (event: StockEvent) => void
}

const reviewMs = 100

export class Stock {
  readonly #options: StockOptions
  readonly #pools = new Map<string, Pool>()
  readonly #kept = new Map<string, { held: Held; idleSince: number }>()
  readonly #pending = new Set<Promise<void>>()
  readonly #review: NodeJS.Timeout
  #isClosed = false

  constructor(options: StockOptions) {
    this.#options = options
    this.#review = setInterval(() => this.#act(options.isCoreWanted()), reviewMs)
  }

  require(spec: SandboxSpec, count: number): void {
    this.#poolOf(spec).minimum = count
  }

  async take(spec: SandboxSpec, topic: string, signal?: AbortSignal): Promise<Held | TakeFailure> {
    if (this.#isClosed || signal?.aborted) return { kind: 'cancelled' }
    const since = this.#options.now()
    const pool = this.#poolOf(spec)
    pool.rate = countArrival(pool.rate, since)
    pool.lastCallAt = since
    const kept = spec.reuse > 1 ? this.#takeKept(pool.key, topic) : undefined
    if (kept !== undefined) {
      this.#tellTaken(spec, 'reused', 0, since - kept.idleSince)
      return { ...kept.held, source: 'reused' }
    }
    const ready = pool.ready.shift()
    if (ready !== undefined) {
      this.#tellTaken(spec, 'stock', 0, since - ready.since)
      return { spec, topic, launched: ready.launched, useCount: 0, source: 'stock' }
    }
    const taken = await this.#waitIn(pool, signal)
    if ('kind' in taken) return taken
    this.#tellTaken(spec, 'started', this.#options.now() - since, 0)
    return { spec, topic, launched: taken.launched, useCount: 0, source: 'started' }
  }

  /** Back from a run, or unused. What cannot serve again is removed. */
  giveBack(held: Held): void {
    const { launched, spec } = held
    if (held.useCount === 0) return this.#offer(this.#poolOf(spec), launched)
    if (this.#isClosed || held.useCount >= spec.reuse || !launched.session.isIdle())
      return this.#remove(launched)
    const entry = { held, idleSince: this.#options.now() }
    this.#kept.set(launched.id, entry)
    return launched.session.onClosed(() => this.#retireKept(launched.id, 'dead'))
  }

  counts(): StockCounts {
    const counts = { ready: 0, kept: this.#kept.size, launching: 0, waiting: 0 }
    for (const pool of this.#pools.values()) {
      counts.ready += pool.ready.length
      counts.launching += pool.launching
      counts.waiting += pool.waiters.length
    }
    return counts
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#review)
    for (const pool of this.#pools.values()) {
      for (const waiter of pool.waiters.splice(0)) waiter({ kind: 'cancelled' })
      for (const { launched } of pool.ready.splice(0)) this.#remove(launched)
    }
    for (const id of this.#kept.keys()) this.#retireKept(id, 'idle')
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  #act(isCrowded: boolean): void {
    if (this.#isClosed) return
    const now = this.#options.now()
    const pools = [...this.#pools.values()]
    const kept = [...this.#kept].map(([id, { idleSince }]) => ({ id, idleSince }))
    const states = pools.map((pool) => poolState(pool, now))
    const plan = planStock({ now, pools: states, kept, isCrowded }, this.#options.limits)
    for (const { key, count } of plan.retire) this.#retireReady(key, count)
    for (const id of plan.retireKept) this.#retireKept(id, 'idle')
    for (const key of plan.launch) {
      const pool = this.#pools.get(key)
      if (pool !== undefined) this.#track(this.#launch(pool))
    }
    for (const pool of pools) if (isForgotten(pool, now)) this.#pools.delete(pool.key)
  }

  /** For those who wait. Starting ahead is left to the next review: it would take cores from the run just handed out. */
  #serve(): void {
    this.#act(true)
  }

  async #launch(pool: Pool): Promise<void> {
    const { launcher, now, onEvent } = this.#options
    const { tool } = pool.spec
    const startedAt = now()
    pool.launching++
    const result = await launcher.launch(pool.spec).finally(() => pool.launching--)
    if (result.kind === 'launched') {
      const startMs = now() - startedAt
      noteStart(pool, startMs)
      onEvent({ kind: 'started', tool, startMs })
      this.#offer(pool, result.launched)
    } else {
      noteFailure(pool, now())
      onEvent({ kind: 'start_failed', tool, failure: result })
      // These are as true for everybody who waits; the others may pass, so each waiter has a try of its own.
      const isForAll =
        result.kind === 'image_missing' || (result.kind === 'start_failed' && result.reason === 'refused')
      for (const waiter of pool.waiters.splice(0, isForAll ? pool.waiters.length : 1)) waiter(result)
    }
    this.#serve()
  }

  #offer(pool: Pool, launched: Launched): void {
    if (this.#isClosed || !launched.session.isIdle()) return this.#remove(launched)
    const waiter = pool.waiters.shift()
    if (waiter !== undefined) return waiter({ launched })
    const entry = { launched, since: this.#options.now() }
    pool.ready.push(entry)
    return launched.session.onClosed(() => {
      if (!pool.ready.includes(entry)) return
      pool.ready = pool.ready.filter((other) => other !== entry)
      this.#options.onEvent({ kind: 'retired', tool: pool.spec.tool, reason: 'dead' })
      this.#remove(launched)
    })
  }

  #waitIn(pool: Pool, signal: AbortSignal | undefined): Promise<Parameters<Waiter>[0]> {
    return new Promise((resolve) => {
      const cancel = () => {
        pool.waiters = pool.waiters.filter((other) => other !== waiter)
        resolve({ kind: 'cancelled' })
      }
      const waiter: Waiter = (answer) => {
        signal?.removeEventListener('abort', cancel)
        resolve(answer)
      }
      signal?.addEventListener('abort', cancel, { once: true })
      pool.waiters.push(waiter)
      this.#serve()
    })
  }

  #takeKept(key: string, topic: string): { held: Held; idleSince: number } | undefined {
    // The one used last is the warmest; the others may then grow old and leave.
    const matching = [...this.#kept.values()].filter(
      ({ held }) => held.topic === topic && poolKey(held.spec) === key,
    )
    const chosen = matching.toSorted((a, b) => b.idleSince - a.idleSince)[0]
    if (chosen !== undefined) this.#kept.delete(chosen.held.launched.id)
    return chosen
  }

  #retireReady(key: string, count: number): void {
    const pool = this.#pools.get(key)
    for (const { launched } of pool?.ready.splice(0, count) ?? []) {
      this.#options.onEvent({ kind: 'retired', tool: pool?.spec.tool ?? '', reason: 'surplus' })
      this.#remove(launched)
    }
  }

  #retireKept(id: string, reason: 'idle' | 'dead'): void {
    const entry = this.#kept.get(id)
    if (entry === undefined) return
    this.#kept.delete(id)
    this.#options.onEvent({ kind: 'retired', tool: entry.held.spec.tool, reason })
    this.#remove(entry.held.launched)
  }

  #remove(launched: Launched): void {
    this.#track(launched.remove())
  }

  #track(work: Promise<void>): void {
    const done = work.finally(() => this.#pending.delete(done))
    this.#pending.add(done)
  }

  #poolOf(spec: SandboxSpec): Pool {
    const key = poolKey(spec)
    const pool = this.#pools.get(key) ?? createPool(key, spec)
    this.#pools.set(key, pool)
    return pool
  }

  #tellTaken(spec: SandboxSpec, source: Source, waitMs: number, ageMs: number): void {
    this.#options.onEvent({ kind: 'taken', tool: spec.tool, source, waitMs, ageMs })
  }
}
