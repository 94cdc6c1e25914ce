import type { Pool, Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import type { ScannedFolders, ToolRow } from './plan-scan.ts'
import { planScan } from './plan-scan.ts'

export type Publication = {
  processId: string
  /** Absent while the worker's engine does not answer. */
  engineId: string | undefined
  /** The wish to reload that this reading answers; see `request-reload.ts`. */
  reload: number
  contentHash: string
  scan: ScannedFolders
}

// Held to the end: readings are compared with the rows one after the other.
const lockState = 'select from catalog_state for update'
const moveEpoch = 'update catalog_state set epoch = epoch + 1'

const selectTools = `
  select name, wanted_hash, current_hash, refused_hash, faults, removed_at is not null as is_removed
  from tools`

const selectReady = "select distinct tool, hash from images where state = 'ready'"

const insertVersions = `
  insert into tool_versions (tool, hash, version, manifest)
  select * from unnest($1::text[], $2::text[], $3::text[], $4::json[])
  on conflict (tool, hash) do nothing`

// In order, as whoever submits locks the rows of tools: otherwise the two could wait for each other.
const upsertTools = `
  insert into tools (name, wanted_hash, current_hash, refused_hash, faults, removed_at)
  select name, wanted, current, refused, faults, case when removed then now() end
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $6::boolean[])
    as row (name, wanted, current, refused, faults, removed)
  order by name collate "C"
  on conflict (name) do update
  set wanted_hash = excluded.wanted_hash, current_hash = excluded.current_hash,
    refused_hash = excluded.refused_hash, faults = excluded.faults, removed_at = excluded.removed_at`

const stampServed = `
  update tool_versions as version set served_at = now()
  from unnest($1::text[], $2::text[]) as row (tool, hash)
  where version.tool = row.tool and version.hash = row.hash`

const upsertScan = `
  insert into catalog_scans (process_id, engine_id, reload, content_hash, tool_count, faults)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (process_id) do update
  set engine_id = excluded.engine_id, reload = excluded.reload, content_hash = excluded.content_hash,
    tool_count = excluded.tool_count, faults = excluded.faults, scanned_at = now()`

/**
 * Makes what a worker found in the folders what all processes know. A reading that finds nothing new changes nothing
 * that callers see. Returns the names of the tools that changed.
 */
export async function publishScan(pool: Pool, publication: Publication): Promise<string[]> {
  const { scan } = publication
  return transaction(pool, async (sql) => {
    await sql.query(lockState)
    const rows = (await sql.query<ToolRow>(selectTools)).rows
    const ready = await readReady(sql)
    const changes = planScan(rows, scan, (tool, hash) => ready.has(`${tool} ${hash}`))
    if (changes.length > 0) await apply(sql, scan, rows, changes)
    await sql.query(upsertScan, [
      publication.processId,
      publication.engineId ?? null,
      publication.reload,
      publication.contentHash,
      scan.tools.length,
      JSON.stringify(scan.faults),
    ])
    return changes.map(({ name }) => name)
  })
}

async function readReady(sql: Sql): Promise<ReadonlySet<string>> {
  const found = await sql.query<{ tool: string; hash: string }>(selectReady)
  return new Set(found.rows.map(({ tool, hash }) => `${tool} ${hash}`))
}

async function apply(
  sql: Sql,
  scan: ScannedFolders,
  before: readonly ToolRow[],
  changes: readonly ToolRow[],
): Promise<void> {
  const changed = new Set(changes.map(({ name }) => name))
  const versions = scan.tools.filter(({ name }) => changed.has(name))
  await sql.query(moveEpoch)
  await sql.query(insertVersions, [
    versions.map(({ name }) => name),
    versions.map(({ hash }) => hash),
    versions.map(({ manifest }) => manifest.version),
    versions.map(({ manifest }) => JSON.stringify(manifest)),
  ])
  await sql.query(upsertTools, [
    changes.map((row) => row.name),
    changes.map((row) => row.wanted_hash),
    changes.map((row) => row.current_hash),
    changes.map((row) => row.refused_hash),
    changes.map((row) => JSON.stringify(row.faults)),
    changes.map((row) => row.is_removed),
  ])
  const currentBefore = new Map(before.map((row) => [row.name, row.current_hash]))
  const served = changes.filter(
    (row) => row.current_hash !== null && row.current_hash !== currentBefore.get(row.name),
  )
  await sql.query(stampServed, [served.map((row) => row.name), served.map((row) => row.current_hash)])
}
