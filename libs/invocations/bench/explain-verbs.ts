import type { Pool } from '@toolyard/db/pool'
import { createPool } from '@toolyard/db/pool'
import { planTexts } from '@toolyard/testkit/plans'
import { rememberStatements } from '@toolyard/testkit/remembered-statements'
import { hotVerbs } from '../fixtures/hot-verbs.ts'

export type VerbPlan = { name: string; statements: StatementPlan[] }
export type StatementPlan = {
  /** How it begins. */
  title: string
  /** By the plan for any values, which Postgres keeps, or by one for these. */
  isPrepared: boolean
  /** Null: it stands with an earlier verb. */
  plan: string | null
}

/** What each verb asks, and the plan of it. */
export async function explainVerbs(url: string, ready: Pool, count: number): Promise<VerbPlan[]> {
  const pool = createPool({ url, max: 2, applicationName: 'toolyard-bench', onIdleError: () => {} })
  const remembered = rememberStatements(pool)
  const deps = { pool, afterCommit: { run: () => {} } }
  const plans: VerbPlan[] = []
  const seen = new Set<string>()
  try {
    for (const { name, run } of hotVerbs({ deps, pool: ready, count })) {
      const statements: StatementPlan[] = []
      await run(async (work) => {
        remembered.take()
        const done = await work()
        for (const statement of remembered.take()) {
          const { text, isPrepared } = statement
          const title = text.replaceAll(/\s+/g, ' ').trim().slice(0, 110)
          if (statements.some((one) => one.title === title)) continue
          const { own, generic } = await planTexts(ready, statement)
          const plan = isPrepared ? generic : own
          statements.push({ title, isPrepared, plan: seen.has(`${text}\n${plan}`) ? null : plan })
          seen.add(`${text}\n${plan}`)
        }
        return done
      })
      plans.push({ name, statements })
    }
  } finally {
    await pool.end()
  }
  return plans
}
