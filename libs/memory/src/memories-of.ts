import type { Actor } from '@toolyard/access/actor'
import type { OverallMemoryShape } from '@toolyard/contract/memory'
import type { Sql } from '@toolyard/db/pool'
import type { ShownRow } from './memory-shape.ts'
import { shownColumns, toOverallShape } from './memory-shape.ts'

// index: tool_memory_pkey; as many rows as tools are named
const select = `select tool, ${shownColumns} from tool_memory where tool = any($1)`

/** What a list of tools shows beside each; also those that were never called are in the answer. */
export async function memoriesOf(
  sql: Sql,
  actor: Actor,
  tools: readonly string[],
): Promise<Map<string, OverallMemoryShape>> {
  const found = await sql.query<ShownRow & { tool: string }>(select, [tools])
  const rows = new Map(found.rows.map((row) => [row.tool, row]))
  return new Map(tools.map((tool) => [tool, toOverallShape(actor, rows.get(tool))]))
}
