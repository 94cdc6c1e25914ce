// How many sandboxes are kept ready, and what is done about it now. Pure: the acting part is stock.ts.

export type PoolState = {
  key: string
  /** What the operator asked to have ready whatever the demand. */
  minimum: number
  /** Calls per second, fading; see arrival-rate.ts. */
  ratePerSecond: number
  lastCallAt?: number
  /** How long a start takes, on average. */
  startMs: number
  /** When each ready sandbox came into stock, oldest first. */
  readySince: readonly number[]
  launching: number
  /** Callers who wait for a sandbox of this pool. */
  waiting: number
  /** After a failed start nothing is started ahead until then. */
  pausedUntil: number
}

/** A sandbox that has served and waits for the same tool and topic. */
export type KeptState = { id: string; idleSince: number }

export type StockState = {
  now: number
  pools: readonly PoolState[]
  kept: readonly KeptState[]
  /** True while runnable work waits for a core: what runs comes before what may run. */
  isCrowded: boolean
}

export type StockLimits = {
  memoryBytes: number
  poolMax: number
  /** Starts for callers who wait. */
  launchesMax: number
  /** Starts ahead of need. */
  refillsMax: number
}

export type StockPlan = {
  /** Keys of pools, each as often as it starts a sandbox. */
  launch: string[]
  retire: { key: string; count: number }[]
  retireKept: string[]
}

export const defaultStockLimits: StockLimits = {
  memoryBytes: 2_147_483_648,
  poolMax: 32,
  launchesMax: 8,
  refillsMax: 2,
}

const idleContainerBytes = 16_777_216
const warmAfterCallMs = 600_000
// Demand fades slowly; what is over the mark is given this long to be needed after all.
const excessIdleMs = 30_000
const keptIdleMs = 60_000

export function planStock(state: StockState, limits: StockLimits): StockPlan {
  const placesMax = Math.floor(limits.memoryBytes / idleContainerBytes)
  const launch = launchForCallers(state.pools, limits.launchesMax)
  const grants = grantPlaces(state, placesMax, limits.poolMax)
  const retire = state.pools.flatMap((pool) => retirements(pool, grants.get(pool.key) ?? 0, state.now))
  const leaving = retire.reduce((sum, { count }) => sum + count, 0)
  const readyCount = state.pools.reduce((sum, pool) => sum + pool.readySince.length, 0)
  const keptMax = placesMax - (readyCount - leaving)
  return {
    launch: [...launch, ...refills(state, grants, launch.length, limits)],
    retire,
    retireKept: retireKept(state, keptMax),
  }
}

/** What demand asks for: enough for the calls that come while a replacement starts, and twice their usual scatter. */
export function wantedCount(pool: PoolState, now: number, poolMax: number): number {
  const isWarm = pool.lastCallAt !== undefined && now - pool.lastCallAt < warmAfterCallMs
  const demand = pool.ratePerSecond * (pool.startMs / 1_000)
  const byDemand = isWarm ? Math.max(1, Math.ceil(demand + 2 * Math.sqrt(demand))) : 0
  return Math.min(poolMax, Math.max(pool.minimum, byDemand))
}

/** In turns, the most used first, so that a small memory still has one for each tool before a second for any. */
function grantPlaces(state: StockState, placesMax: number, poolMax: number): Map<string, number> {
  const wishes = state.pools
    .map((pool) => ({ pool, wanted: wantedCount(pool, state.now, poolMax) }))
    .filter(({ wanted }) => wanted > 0)
    .toSorted((a, b) => usage(b.pool) - usage(a.pool) || (b.pool.lastCallAt ?? 0) - (a.pool.lastCallAt ?? 0))
  const grants = new Map<string, number>()
  let left = placesMax
  for (const { pool } of wishes) {
    if (left === 0) return grants
    grants.set(pool.key, 1)
    left--
  }
  for (const { pool, wanted } of wishes) {
    const more = Math.min(left, wanted - 1)
    grants.set(pool.key, 1 + more)
    left -= more
  }
  return grants
}

const usage = (pool: PoolState) => pool.ratePerSecond

function launchForCallers(pools: readonly PoolState[], launchesMax: number): string[] {
  let left = launchesMax - pools.reduce((sum, pool) => sum + pool.launching, 0)
  const launch: string[] = []
  // One for each pool in turn: callers of one tool do not stand behind all callers of another.
  const needed = pools.map((pool) => ({ key: pool.key, count: pool.waiting - pool.launching }))
  while (left > 0 && needed.some(({ count }) => count > 0)) {
    for (const need of needed) {
      if (need.count <= 0 || left === 0) continue
      launch.push(need.key)
      need.count--
      left--
    }
  }
  return launch
}

function refills(
  { pools, now, isCrowded }: StockState,
  grants: Map<string, number>,
  launchCount: number,
  { refillsMax }: StockLimits,
): string[] {
  const launching = launchCount + pools.reduce((sum, pool) => sum + pool.launching, 0)
  if (isCrowded || pools.some((pool) => pool.waiting > 0)) return []
  const lacking = pools
    .filter((pool) => pool.pausedUntil <= now)
    .map((pool) => ({
      key: pool.key,
      has: pool.readySince.length + pool.launching,
      granted: grants.get(pool.key) ?? 0,
    }))
    .filter(({ has, granted }) => has < granted)
    .toSorted((a, b) => a.has / a.granted - b.has / b.granted)
  const wanted = lacking.flatMap(({ key, has, granted }) => Array.from({ length: granted - has }, () => key))
  return wanted.slice(0, Math.max(0, refillsMax - launching))
}

function retirements(pool: PoolState, granted: number, now: number): { key: string; count: number }[] {
  const excess = pool.readySince.length - granted
  // Not wanted at all (a memory that is full, a tool long unused) goes at once, a surplus after a while.
  const isUnwanted = granted === 0
  const idle = pool.readySince.filter((since) => now - since > excessIdleMs).length
  const count = isUnwanted ? excess : Math.min(excess, idle)
  return count > 0 ? [{ key: pool.key, count }] : []
}

function retireKept({ kept, now }: StockState, keptMax: number): string[] {
  const oldestFirst = kept.toSorted((a, b) => a.idleSince - b.idleSince)
  const tooMany = Math.max(0, kept.length - Math.max(0, keptMax))
  return oldestFirst
    .filter(({ idleSince }, at) => at < tooMany || now - idleSince > keptIdleMs)
    .map(({ id }) => id)
}
