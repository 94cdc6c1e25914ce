import type { Manifest } from '@toolyard/contract/manifest'
import { parseManifest } from '@toolyard/contract/parse-manifest'
import type { Sql } from '@toolyard/db/pool'

/** One tool as everybody sees it. */
export type CatalogTool = {
  name: string
  enabled: boolean
  /** Of the version that serves; before one does, of the folder's. Absent while no version was ever read. */
  manifest?: Manifest
  /** The version whose manifest that is. */
  manifestHash?: string
  /** The version that serves. */
  servingHash: string | null
  /** The version that is to serve: the folder's, unless it was rolled back from. */
  wantedHash: string | null
  image: { state: 'ready' | 'building' | 'error'; error: string | null }
  /** What the author may mend in an image that works. */
  warnings: readonly string[]
  /** Why the folder, as it is now, is no tool. */
  faults: readonly string[]
}

type Row = {
  name: string
  enabled: boolean
  current_hash: string | null
  target_hash: string | null
  wanted_hash: string | null
  version_hash: string | null
  manifest: unknown
  faults: string[]
  states: string[] | null
  error: string | null
  warnings: string[] | null
}

const select = `
  select tools.name, tools.enabled, tools.current_hash, target.hash as target_hash, tools.wanted_hash,
    version.hash as version_hash, version.manifest, tools.faults, image.states, image.error, image.warnings
  from tools
  cross join lateral (
    select case when wanted_hash is null or wanted_hash = refused_hash then current_hash else wanted_hash end as hash
  ) as target
  left join tool_versions as version
    on version.tool = tools.name and version.hash = coalesce(tools.current_hash, tools.wanted_hash)
  left join lateral (
    select array_agg(distinct state) as states, min(error) as error,
      (array_agg(facts -> 'warnings') filter (where facts is not null))[1] as warnings
    from images
    where images.hash = target.hash
  ) as image on true
  where tools.removed_at is null
  order by tools.name
  limit 10000`

type ReadManifest = { manifest?: Manifest; faults: readonly string[] }

/** What was made of each version's manifest: for a reader of many readings, who gives the same one each time. */
export type ReadManifests = Map<string, ReadManifest>

export async function readCatalog(sql: Sql, read: ReadManifests = new Map()): Promise<CatalogTool[]> {
  const { rows } = await sql.query<Row>(select)
  const before = new Map(read)
  read.clear()
  return rows.map((row) => {
    const version = `${row.name} ${row.version_hash}`
    const own = before.get(version) ?? readManifest(row.manifest)
    read.set(version, own)
    return toTool(row, own)
  })
}

function toTool(row: Row, own: ReadManifest): CatalogTool {
  const { manifest } = own
  const faults = [...row.faults, ...own.faults]
  return {
    name: row.name,
    enabled: row.enabled,
    ...(manifest === undefined ? {} : { manifest }),
    ...(row.version_hash === null ? {} : { manifestHash: row.version_hash }),
    servingHash: row.current_hash,
    wantedHash: row.target_hash,
    image: describeImage(row, faults),
    warnings: row.warnings ?? [],
    faults,
  }
}

/** Read anew by each process: an older release may have stored what this one fills in, or does not take any more. */
function readManifest(stored: unknown): ReadManifest {
  if (stored === null) return { faults: [] }
  const parsed = parseManifest(stored)
  if ('manifest' in parsed) return { manifest: parsed.manifest, faults: [] }
  return { faults: parsed.faults.map(({ pointer, detail }) => `${pointer}: ${detail}`) }
}

const imageLost =
  'the version that serves has lost its image, and its folder holds another version: roll back to another, or change the folder'

/** Images live per engine: one that has it is enough to serve, one that still builds is enough to wait for. */
function describeImage(row: Row, faults: readonly string[]): CatalogTool['image'] {
  const { states, error } = row
  if (faults.length > 0) return { state: 'error', error: faults.join('\n') }
  if (states?.includes('ready') === true) return { state: 'ready', error: null }
  // Only what a folder holds can be built.
  if (row.target_hash !== row.wanted_hash) return { state: 'error', error: imageLost }
  const isFailed = states !== null && states.every((state) => state === 'error')
  return isFailed ? { state: 'error', error } : { state: 'building', error: null }
}
