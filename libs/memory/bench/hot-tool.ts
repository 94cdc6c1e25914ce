import type { Pool } from '@toolyard/db/pool'
import type { Hold } from '@toolyard/invocations/claim'
import { finish } from '@toolyard/invocations/finish'
import { success } from '@toolyard/invocations/fixtures/outcomes'
import { runningRows } from '../fixtures/running-rows.ts'
import { recordOutcomes } from '../src/record-outcomes.ts'

export type HotToolBench = {
  finishes: number
  atOnce: number
  perSecond: {
    /** All of one tool, whose row of memory each finish locks until it is on disk. */
    oneTool: number
    /** The same without memory: the tool's row is locked for admission alone. */
    oneToolWithoutMemory: number
    /** Each of a tool of its own: nothing waits for anything. */
    manyTools: number
  }
  /** Of the finishes of one tool. */
  p50Ms: number
  p99Ms: number
}

/** How many invocations of one tool can end in a second: `pool` must have as many connections as `atOnce`. */
export async function benchHotTool(pool: Pool, finishes = 2_000, atOnce = 50): Promise<HotToolBench> {
  const hot = { tool: 'bench_hot', topic: 'bench' }
  await pool.query(
    `insert into tools (name) select name from unnest($1::text[]) as wanted (name) on conflict do nothing`,
    [[hot.tool, ...Array.from({ length: atOnce }, (_, index) => `bench_${index}`)]],
  )
  await run(pool, await runningRows(pool, atOnce * 4, hot), { atOnce, within: recordOutcomes })
  const withoutMemory = await run(pool, await runningRows(pool, finishes, hot), { atOnce, within: undefined })
  const withMemory = await run(pool, await runningRows(pool, finishes, hot), {
    atOnce,
    within: recordOutcomes,
  })
  const perTool = Math.ceil(finishes / atOnce)
  const each: Hold[][] = []
  for (let index = 0; index < atOnce; index++)
    each.push(await runningRows(pool, perTool, { tool: `bench_${index}`, topic: 'bench' }))
  const mixed = Array.from({ length: perTool }, (_, round) =>
    each.flatMap((holds) => holds.slice(round, round + 1)),
  )
  const many = await run(pool, mixed.flat(), { atOnce, within: recordOutcomes })
  return {
    finishes,
    atOnce,
    perSecond: {
      oneTool: withMemory.perSecond,
      oneToolWithoutMemory: withoutMemory.perSecond,
      manyTools: many.perSecond,
    },
    p50Ms: withMemory.p50Ms,
    p99Ms: withMemory.p99Ms,
  }
}

async function run(
  pool: Pool,
  holds: readonly Hold[],
  { atOnce, within }: { atOnce: number; within: typeof recordOutcomes | undefined },
): Promise<{ perSecond: number; p50Ms: number; p99Ms: number }> {
  const deps = { pool, afterCommit: { run: () => {} } }
  const tookMs: number[] = []
  const waiting = holds.values()
  const beganAtMs = performance.now()
  async function lane(): Promise<void> {
    for (const hold of waiting) {
      const atMs = performance.now()
      const { kind } = await finish(deps, { hold, outcome: success, within })
      if (kind !== 'closed') throw new Error(`the finish of a held row was ${kind}`)
      tookMs.push(performance.now() - atMs)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  const perSecond = holds.length / ((performance.now() - beganAtMs) / 1_000)
  const sorted = tookMs.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
  return { perSecond, p50Ms: at(0.5), p99Ms: at(0.99) }
}
