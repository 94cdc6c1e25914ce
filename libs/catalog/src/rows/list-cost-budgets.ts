import type { Sql } from '@toolyard/db/pool'

const select = `
  select tools.name, (version.manifest #>> '{constraints,cost_budget}')::double precision as cost_budget
  from tools
  join tool_versions as version on version.tool = tools.name and version.hash = tools.current_hash
  where tools.removed_at is null and version.manifest #> '{constraints,cost_budget}' is not null
  limit 10000`

/** What the tools that serve may spend on a day; those without a limit are left out. */
export async function listCostBudgets(sql: Sql): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ name: string; cost_budget: number }>(select)
  return new Map(rows.map((row) => [row.name, row.cost_budget]))
}
