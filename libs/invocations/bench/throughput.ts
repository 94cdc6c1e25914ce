import type { Pool } from '@toolyard/db/pool'
import { result } from '../fixtures/outcomes.ts'
import { claim } from '../src/claim.ts'
import { finish } from '../src/finish.ts'
import { renewLeases } from '../src/renew-leases.ts'
import { submitMany } from './submit-many.ts'
import type { BenchDeps } from './submit-many.ts'

export type ThroughputBench = { submitsPerSecond: number; claimAndFinishPerSecond: number }
export type ThroughputOptions = {
  count?: number
  concurrency?: number
  tools?: readonly string[]
  print?: (line: string) => void
}

const text = 'x'.repeat(200)
const outcome = {
  kind: 'succeeded',
  result: { ...result, text, llm_context: `[TOOL:bench] ${text} [/TOOL]` },
} as const
const worker = { workerId: 'bench', engineId: 'engine-1' }

/** A tool that is ready, and a worker with slots enough. */
const makeTool = `
  with version as (
    insert into tool_versions (tool, hash, version, manifest) values ($1, $1, 'bench', '{}') on conflict do nothing
  ), image as (
    insert into images (tool, hash, engine_id, state, image_id, facts)
    values ($1, $1, $2, 'ready', 'sha256:bench', '{"entrypoint": ["/run"]}') on conflict do nothing
  )
  insert into tools (name, wanted_hash, current_hash) values ($1, $1, $1) on conflict do nothing`

/** Rows per second through submit and through claim and finish, without queue and sandbox. */
export async function benchThroughput(
  pool: Pool,
  { count = 5_000, concurrency = 50, tools = ['bench'], print }: ThroughputOptions = {},
): Promise<ThroughputBench> {
  const deps: BenchDeps = {
    pool,
    jobs: [],
    afterCommit: { run: ({ jobs = [] }) => void deps.jobs.push(...jobs) },
  }
  for (const tool of tools) await pool.query(makeTool, [tool, worker.engineId])
  await renewLeases(pool, { ...worker, slots: 1_000 }, [])
  const submitMs = await submitMany(deps, { count, concurrency, tools })
  const beganAtMs = performance.now()
  let closed = 0
  async function work(): Promise<void> {
    while (closed < count) {
      const job = deps.jobs.shift()
      if (job === undefined) return
      const claimed = await claim(deps, worker, { invocationId: job.id, attempt: job.attempt })
      if (claimed.kind !== 'claimed') continue
      await finish(deps, { hold: claimed.attempt, outcome })
      closed += 1
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
  const workMs = performance.now() - beganAtMs
  const rates = {
    submitsPerSecond: Math.round((count / submitMs) * 1_000),
    claimAndFinishPerSecond: Math.round((closed / workMs) * 1_000),
  }
  print?.(
    `${tools.length} tools: ${rates.submitsPerSecond} submits/s, ${rates.claimAndFinishPerSecond} claims and finishes/s`,
  )
  return rates
}
