import type { Call } from '@toolyard/access/actor'
import { requireActorScope } from '@toolyard/access/require-scope'
import { writeAudit } from '@toolyard/access/write-audit'
import type { Pool } from '@toolyard/db/pool'
import { changeCatalog } from './change-catalog.ts'
import { requireTool, unknownTool } from './require-tool.ts'

const update = `
  update tools set enabled = $2
  from tools as before
  where tools.name = $1 and before.name = tools.name and tools.removed_at is null
  returning before.enabled`

/** Turns one tool off or on. What runs is not touched; what is queued waits. */
export async function setToolEnabled(pool: Pool, call: Call, name: string, enabled: boolean): Promise<void> {
  requireActorScope(call.actor, 'tools:manage')
  requireTool(call.actor, name)
  await changeCatalog(pool, async (sql) => {
    const updated = await sql.query<{ enabled: boolean }>(update, [name, enabled])
    const before = updated.rows[0]
    if (before === undefined) throw unknownTool(name)
    if (before.enabled === enabled) return
    await writeAudit(sql, call, {
      action: enabled ? 'tool.enable' : 'tool.disable',
      target: `tool:${name}`,
      detail: {},
    })
  })
}
