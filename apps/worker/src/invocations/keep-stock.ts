import type { CatalogView } from '@toolyard/catalog/create-catalog'
import { toSandboxSpec } from '@toolyard/catalog/to-sandbox-spec'
import type { Pool } from '@toolyard/db/pool'
import type { SandboxSpec, Sandboxes } from '@toolyard/sandbox/sandboxes'
import { repeat } from '@toolyard/service/repeat'
import type { VersionReader } from './read-version.ts'
import { toRunnableImage } from './read-version.ts'

export type StockKeeperOptions = {
  pool: Pool
  catalog: { view(): Promise<CatalogView> }
  /** The catalogue as it is when this begins. */
  first: CatalogView
  sandboxes: Pick<Sandboxes, 'stock'>
  engineId: () => string | undefined
  readVersion: VersionReader
  onFailure: (error: unknown) => void
  everyMs?: number
}

export type StockKeeper = {
  /** Of all tools, as of the last look. */
  knownNames(): readonly string[]
  stop(): Promise<void>
}

type Wish = { spec: SandboxSpec; count: number }

const everyDefaultMs = 1_000

// index: images_pkey
const select = `
  select version.hash, version.manifest, image.image_id, image.facts
  from tools
  join tool_versions as version on version.tool = tools.name and version.hash = tools.current_hash
  join images as image on image.hash = version.hash and image.engine_id = $1 and image.state = 'ready'
  where tools.removed_at is null and tools.enabled
    and (version.manifest #>> '{sandbox,stock}')::integer > 0
  order by tools.name
  limit 1000`

type Row = { hash: string; manifest: unknown; image_id: string; facts: unknown }

/** Keeps ready what the manifests of the serving versions ask for; what is not asked for any more follows demand alone. */
export function keepStock(options: StockKeeperOptions): StockKeeper {
  const { pool, catalog, first, sandboxes, engineId, readVersion, onFailure } = options
  let names = namesOf(first)
  let seen: { view: CatalogView; engine: string | undefined } | undefined
  let asked = new Map<string, SandboxSpec>()

  async function look(): Promise<void> {
    const view = await catalog.view()
    const engine = engineId()
    if (seen?.view === view && seen.engine === engine) return
    names = namesOf(view)
    const wishes = engine === undefined ? [] : await readWishes(engine)
    const next = new Map(wishes.map(({ spec }) => [JSON.stringify(spec), spec]))
    for (const [name, spec] of asked) if (!next.has(name)) sandboxes.stock(spec, 0)
    for (const { spec, count } of wishes) sandboxes.stock(spec, count)
    asked = next
    seen = { view, engine }
  }

  async function readWishes(engine: string): Promise<Wish[]> {
    const { rows } = await pool.query<Row>(select, [engine])
    return rows.flatMap((row) => {
      const manifest = readVersion(row)
      const count = manifest?.sandbox.stock ?? 0
      if (manifest === undefined || count === 0) return []
      return [{ spec: toSandboxSpec(manifest, toRunnableImage(row.image_id, row.facts)), count }]
    })
  }

  const looking = repeat({ everyMs: options.everyMs ?? everyDefaultMs, work: look, onFailure })
  return { knownNames: () => names, stop: () => looking.stop() }
}

const namesOf = ({ tools }: CatalogView): readonly string[] => tools.map(({ name }) => name)
