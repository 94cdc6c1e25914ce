import type { Call } from '@toolyard/access/actor'
import { requireActorScope } from '@toolyard/access/require-scope'
import { writeAudit } from '@toolyard/access/write-audit'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { changeCatalog } from './change-catalog.ts'
import type { VersionRow } from './list-versions.ts'
import { listVersions } from './list-versions.ts'
import { requireTool, unknownTool } from './require-tool.ts'

const lockTool = 'select current_hash, wanted_hash from tools where name = $1 and removed_at is null'

// Going on to what the folder holds takes the refusal back.
const move = `
  update tools
  set current_hash = $2, refused_hash = case when wanted_hash = $2 then null else wanted_hash end
  where name = $1`

const stamp = 'update tool_versions set served_at = now() where tool = $1 and hash = $2'

/**
 * Moves a tool to another of its versions that has an image: the one that served before and was not rolled back from,
 * unless one is named by the beginning of its hash. The version in the folder is not served again until the folder
 * changes, or somebody goes back to it.
 */
export async function rollBack(
  pool: Pool,
  call: Call,
  name: string,
  to?: string,
): Promise<{ from: string | null; to: string }> {
  requireActorScope(call.actor, 'tools:manage')
  requireTool(call.actor, name)
  return changeCatalog(pool, async (sql) => {
    const found = await sql.query<{ current_hash: string | null }>(lockTool, [name])
    const tool = found.rows[0]
    if (tool === undefined) throw unknownTool(name)
    const versions = await listVersions(sql, { kind: 'operator' }, name)
    const candidates = versions.filter(
      (version) => version.image_count > 0 && !version.is_current && isMeant(version, to),
    )
    const [chosen, another] = candidates
    if (chosen === undefined) throw nothingToGoBackTo(name, to)
    if (to !== undefined && another !== undefined) throw ambiguous(to, candidates.length)
    await sql.query(move, [name, chosen.hash])
    await sql.query(stamp, [name, chosen.hash])
    await writeAudit(sql, call, {
      action: 'tool.rollback',
      target: `tool:${name}`,
      detail: { from: tool.current_hash, to: chosen.hash },
    })
    return { from: tool.current_hash, to: chosen.hash }
  })
}

const isMeant = ({ hash, served_at, is_refused }: VersionRow, to: string | undefined) =>
  to === undefined ? served_at !== null && !is_refused : hash.startsWith(to)

function nothingToGoBackTo(name: string, to: string | undefined): AppError {
  const which = to === undefined ? 'no other version' : `no other version beginning ${to}`
  return new AppError('not_found', `${name} has ${which} with an image; see its versions`)
}

function ambiguous(to: string, count: number): AppError {
  return new AppError('invalid_request', `${count} versions begin ${to}: give more of the hash`, {
    faults: [{ pointer: '/to', detail: 'must name one version' }],
  })
}
