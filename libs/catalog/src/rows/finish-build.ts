import { isStorable, toStorableText } from '@toolyard/contract/storable'
import type { Pool, Sql } from '@toolyard/db/pool'
import { changeCatalog } from './change-catalog.ts'

/** How a built image is run; the manifest says the rest. */
export type ImageFacts = {
  entrypoint: readonly string[]
  volumes: readonly string[]
  user?: { uid: number; gid: number }
  warnings: readonly string[]
}

export type BuildResult =
  | { kind: 'ready'; imageId: string; facts: ImageFacts }
  /** The author's to mend. */
  | { kind: 'error'; detail: string }
  /** The engine's fault: it is tried again, and told as an error only when it goes on. */
  | { kind: 'fault'; detail: string }

export type FinishedBuild = { tool: string; hash: string; engineId: string; result: BuildResult }

/** What others write when it is told that the image of what a tool's folder holds cannot be built. */
export type WithinFailure = (sql: Sql, failed: { tool: string; hash: string; error: string }) => Promise<void>

const faultsMax = 5

// A build whose lock was lost may end after another has made the image: what is ready stays as it is.
const markReady = `
  update images
  set state = 'ready', image_id = $3, facts = $4, error = null, progress = null, failures = 0, changed_at = now()
  where hash = $1 and engine_id = $2 and state <> 'ready'`

const markError = `
  update images set state = 'error', error = $3, progress = null, failures = 0, changed_at = now()
  where hash = $1 and engine_id = $2 and state = 'building'`

const markFault = `
  update images
  set failures = failures + 1, progress = null, changed_at = now(),
    state = case when failures + 1 >= $4 then 'error' else 'wanted' end,
    error = case when failures + 1 >= $4 then $3 end
  where hash = $1 and engine_id = $2 and state = 'building'
  returning state`

// Once for all engines, and not for what the folder holds no more.
const findNews = `
  select from tools
  where name = $1 and wanted_hash = $2
    and not exists (select from images where hash = $2 and engine_id <> $3 and state = 'error')`

// The folder may have moved on while the image was built, or an operator may have gone back to the version before.
const serve = `
  with served as (
    update tools set current_hash = $2
    where name = $1 and wanted_hash = $2 and refused_hash is distinct from $2
      and current_hash is distinct from $2
    returning name
  )
  update tool_versions as version set served_at = now()
  from served
  where version.tool = served.name and version.hash = $2`

/** Returns whether this version serves from now on. */
export async function finishBuild(
  pool: Pool,
  { tool, hash, engineId, result: given }: FinishedBuild,
  within?: WithinFailure,
): Promise<boolean> {
  const result = storable(given)
  return changeCatalog(pool, async (sql) => {
    if (result.kind !== 'ready') {
      const isError = await markFailure(sql, { hash, engineId, result })
      const isNews = isError && (await sql.query(findNews, [tool, hash, engineId])).rowCount === 1
      if (isNews) await within?.(sql, { tool, hash, error: result.detail })
      return false
    }
    const facts = JSON.stringify(result.facts)
    const marked = await sql.query(markReady, [hash, engineId, result.imageId, facts])
    if (marked.rowCount === 0) return false
    const served = await sql.query(serve, [tool, hash])
    return served.rowCount === 1
  })
}

type Failed = { hash: string; engineId: string; result: Exclude<BuildResult, { kind: 'ready' }> }

/** Whether it is an error now, and not only a fault that is tried again. */
async function markFailure(sql: Sql, { hash, engineId, result }: Failed): Promise<boolean> {
  const { kind, detail } = result
  if (kind === 'error') return (await sql.query(markError, [hash, engineId, detail])).rowCount === 1
  const { rows } = await sql.query<{ state: string }>(markFault, [hash, engineId, detail, faultsMax])
  return rows[0]?.state === 'error'
}

/** What Postgres would refuse each time could never be told, and would be built again without end. */
function storable(result: BuildResult): BuildResult {
  if (result.kind !== 'ready') return { ...result, detail: toStorableText(result.detail) }
  const { entrypoint, volumes } = result.facts
  if ([...entrypoint, ...volumes].every(isStorable)) return result
  return { kind: 'error', detail: 'the image has U+0000 or half a character in its ENTRYPOINT or a VOLUME' }
}
