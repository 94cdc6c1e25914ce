import type { Pool } from '@toolyard/db/pool'
import type { Statement } from './remembered-statements.ts'

type Node = {
  'Node Type': string
  'Index Name'?: string
  'Relation Name'?: string
  Plans?: Node[]
}

/** What a statement reads: `index deliveries_pkey`, `whole deliveries`. */
export type Reads = ReadonlySet<string>

/** By the plan for these values, and by the one for any. */
export async function readsOf(pool: Pool, statement: Statement): Promise<{ own: Reads; generic: Reads }> {
  type Row = { 'QUERY PLAN': [{ Plan: Node }] }
  const plans = await explain<Row>(pool, statement, 'format json')
  const readsIn = ([row]: Row[]) => addReads(row?.['QUERY PLAN'][0].Plan)
  return { own: readsIn(plans.own), generic: readsIn(plans.generic) }
}

/** The same in the words of Postgres. */
export async function planTexts(pool: Pool, statement: Statement): Promise<{ own: string; generic: string }> {
  type Row = { 'QUERY PLAN': string }
  const plans = await explain<Row>(pool, statement, 'costs off')
  const text = (rows: Row[]) => rows.map((row) => row['QUERY PLAN']).join('\n')
  return { own: text(plans.own), generic: text(plans.generic) }
}

async function explain<Row extends object>(
  pool: Pool,
  { text, values }: Statement,
  options: string,
): Promise<{ own: Row[]; generic: Row[] }> {
  const client = await pool.connect()
  try {
    const own = await client.query<Row>(`explain (${options}) ${text}`, values)
    await client.query('set plan_cache_mode = force_generic_plan')
    await client.query(`prepare explained as ${text}`)
    const given = values.length === 0 ? '' : `(${values.map(() => 'null').join()})`
    const generic = await client.query<Row>(`explain (${options}) execute explained${given}`)
    return { own: own.rows, generic: generic.rows }
  } finally {
    // Nobody is to get one with this setting and this statement.
    client.release(true)
  }
}

function addReads(plan: Node | undefined, reads = new Set<string>()): Reads {
  if (plan === undefined) return reads
  if (plan['Index Name'] !== undefined) reads.add(`index ${plan['Index Name']}`)
  if (plan['Node Type'] === 'Seq Scan') reads.add(`whole ${plan['Relation Name']}`)
  for (const part of plan.Plans ?? []) addReads(part, reads)
  return reads
}
