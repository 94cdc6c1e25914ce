import { readFileSync } from 'node:fs'

export type Row = {
  way: string
  concurrency: number
  calls: number
  p50Ms: number
  p99Ms: number
  perSecond: number
  /** Of the whole machine while the calls ran, per call: engine, runtime and we ourselves. */
  cpuMsPerCall: number
}

const tickMs = 10

/** What is done after a call before the next: part of what can be sustained, not of what a caller waits for. */
export type Call = () => Promise<void | (() => Promise<void>)>

/** Makes the calls, so many at a time, and says how long they took. */
export async function measure(way: string, concurrency: number, calls: number, call: Call): Promise<Row> {
  const tookMs: number[] = []
  let left = calls
  const lane = async () => {
    while (left-- > 0) {
      const startedAt = performance.now()
      const after = await call()
      tookMs.push(performance.now() - startedAt)
      await after?.()
    }
  }
  const startedAt = performance.now()
  const busyBefore = busyMs()
  await Promise.all(Array.from({ length: concurrency }, lane))
  const seconds = (performance.now() - startedAt) / 1_000
  const sorted = tookMs.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return {
    way,
    concurrency,
    calls,
    p50Ms: round(at(0.5)),
    p99Ms: round(at(0.99)),
    perSecond: round(calls / seconds),
    cpuMsPerCall: round((busyMs() - busyBefore) / calls),
  }
}

/** User and system time of all cores since the start of the machine; zero where the system does not tell. */
function busyMs(): number {
  try {
    const [user = 0, nice = 0, system = 0] = readFileSync('/proc/stat', 'utf8')
      .split(/\s+/)
      .slice(1, 4)
      .map(Number)
    return (user + nice + system) * tickMs
  } catch {
    // safe to ignore because the other columns stand without it
    return 0
  }
}

const round = (value: number) => Math.round(value * 100) / 100
