import type { Call } from '@toolyard/access/actor'
import { requireActorScope } from '@toolyard/access/require-scope'
import { writeAudit } from '@toolyard/access/write-audit'
import { AppError } from '@toolyard/contract/errors'
import type { Pool, Sql } from '@toolyard/db/pool'
import { changeCatalog } from './change-catalog.ts'

// The kill switch. It is a row that every submit and every claim reads, so no process has to be told.

const select = "select is_on from switches where name = 'tools_enabled'"

const turn = `
  insert into switches (name, is_on) values ('tools_enabled', $1)
  on conflict (name) do update set is_on = excluded.is_on`

export async function readToolsSwitch(sql: Sql): Promise<boolean> {
  const found = await sql.query<{ is_on: boolean }>(select)
  // A switch that cannot be found is off (I9).
  return found.rows[0]?.is_on ?? false
}

export async function setToolsSwitch(pool: Pool, call: Call, isOn: boolean): Promise<void> {
  requireActorScope(call.actor, 'tools:manage')
  // It reaches beyond every binding.
  if (call.actor.kind === 'key' && (call.actor.key.tools !== null || call.actor.key.topics !== null))
    throw new AppError('missing_scope', 'A key that is bound to tools or topics cannot switch all of them')
  await changeCatalog(pool, async (sql) => {
    const wasOn = await readToolsSwitch(sql)
    await sql.query(turn, [isOn])
    if (wasOn === isOn) return
    await writeAudit(sql, call, {
      action: isOn ? 'tools.enable' : 'tools.disable',
      target: 'switch:tools_enabled',
      detail: {},
    })
  })
}
