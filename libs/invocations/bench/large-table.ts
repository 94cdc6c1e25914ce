import assert from 'node:assert/strict'
import type { Pool } from '@toolyard/db/pool'
import { createPool } from '@toolyard/db/pool'
import type { HotVerb } from '../fixtures/hot-verbs.ts'
import { hotVerbs } from '../fixtures/hot-verbs.ts'
import type { VerbPlan } from './explain-verbs.ts'
import { explainVerbs } from './explain-verbs.ts'
import { fillTable } from './fill-table.ts'

export type LargeTableBench = {
  small: number
  large: number
  largeBytes: number
  verbs: ComparedVerb[]
  plans: VerbPlan[]
}
/** Medians. */
export type ComparedVerb = {
  name: string
  smallMs: number
  largeMs: number
  ratio: number
  runs: number
  /** Held to `ratioMax`. */
  isBounded: boolean
}
export type LargeTableOptions = {
  small?: number
  large?: number
  runs?: number
  print?: (line: string) => void
}

export const ratioMax = 1.2
const smallDefault = 10_000
const largeDefault = 10_000_000

// Postgres keeps a plan from the sixth time on.
const warmUps = 8
// The machine's noise: what passes the limit is measured so often again, and counts with all of its runs.
const repeats = 2
const roundMs = 15_000
const runsMin = 30

type Urls = { small: string; large: string }
type Side = { timed: Pool; ready: Pool; verbs: HotVerb[] }

/** Few and many, in two databases that are empty. */
export async function fillTables(
  urls: Urls,
  { small = smallDefault, large = largeDefault, print = () => {} }: LargeTableOptions = {},
): Promise<void> {
  await fillTable(urls.small, small)
  await fillTable(urls.large, large, print)
}

/**
 * How long the verbs take with few calls that have ended, and with very many: in two databases, run by run in turns, so
 * that whatever else the machine does slows both alike. Commits do not wait for the disk, whose time would hide theirs.
 */
export async function compareTables(
  urls: Urls,
  { small = smallDefault, large = largeDefault, runs = 200, print = () => {} }: LargeTableOptions = {},
): Promise<LargeTableBench> {
  const [a, b] = [openSide(urls.small, small), openSide(urls.large, large)]
  try {
    const { rows } = await b.ready.query<{ bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    )
    const verbs: ComparedVerb[] = []
    for (const [index, verb] of a.verbs.entries()) {
      const other = b.verbs[index]
      assert.equal(other?.name, verb.name)
      const compared = await compare(verb, other, runs)
      verbs.push(compared)
      print(`${compared.name}: ${describeTimes(compared)}`)
    }
    const plans = await explainVerbs(urls.large, b.ready, large)
    return { small, large, largeBytes: Number(rows[0]?.bytes), verbs, plans }
  } finally {
    await Promise.all([a, b].flatMap(({ timed, ready }) => [timed.end(), ready.end()]))
  }
}

export const describeTimes = ({ smallMs, largeMs, ratio, runs }: ComparedVerb) =>
  `${smallMs.toFixed(2)} ms, ${largeMs.toFixed(2)} ms, × ${ratio.toFixed(2)} (${runs} runs)`

function openSide(url: string, count: number): Side {
  const open = () =>
    createPool({
      url,
      max: 2,
      applicationName: 'toolyard-bench',
      serverOptions: '-c synchronous_commit=off',
      onIdleError: () => {},
    })
  const [timed, ready] = [open(), open()]
  const deps = { pool: timed, afterCommit: { run: () => {} } }
  return { timed, ready, verbs: hotVerbs({ deps, pool: ready, count }) }
}

async function compare(small: HotVerb, large: HotVerb, runs: number): Promise<ComparedVerb> {
  const [smallMs, largeMs]: [number[], number[]] = [[], []]
  await takeTurns(small, large, warmUps)
  const ratioOf = () => medianOf(largeMs) / medianOf(smallMs)
  for (let round = 0; round <= repeats; round++) {
    const times = await takeTurns(small, large, runs)
    smallMs.push(...times.small)
    largeMs.push(...times.large)
    if (ratioOf() <= ratioMax) break
  }
  return {
    name: small.name,
    smallMs: medianOf(smallMs),
    largeMs: medianOf(largeMs),
    ratio: ratioOf(),
    runs: smallMs.length,
    isBounded: small.isBounded,
  }
}

async function takeTurns(small: HotVerb, large: HotVerb, runs: number) {
  const times: { small: number[]; large: number[] } = { small: [], large: [] }
  const beganAtMs = performance.now()
  for (let run = 0; run < runs; run++) {
    if (run >= runsMin && performance.now() - beganAtMs > roundMs) break
    // Whoever comes second finds the processor's caches as the other left them.
    const order = run % 2 === 0 ? (['small', 'large'] as const) : (['large', 'small'] as const)
    for (const side of order) times[side].push(await timeOf(side === 'small' ? small : large))
  }
  return times
}

async function timeOf({ run }: HotVerb): Promise<number> {
  let ms = 0
  await run(async (work) => {
    const beganAtMs = performance.now()
    const done = await work()
    ms = performance.now() - beganAtMs
    return done
  })
  return ms
}

function medianOf(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
