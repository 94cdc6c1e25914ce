import { setTimeout as delay } from 'node:timers/promises'
import { createRoute, z } from '@hono/zod-openapi'
import type { AccessKey } from '@toolyard/access/access-key'
import { mayUseTool } from '@toolyard/access/key-bindings'
import type { ScanRow } from '@toolyard/catalog/list-scans'
import { listScans } from '@toolyard/catalog/list-scans'
import { readCatalog } from '@toolyard/catalog/read-catalog'
import { requestReload } from '@toolyard/catalog/request-reload'
import { listLiveWorkers } from '@toolyard/service/list-processes'
import type { Pool } from '@toolyard/db/pool'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { problems } from '../../http/problem.ts'
import { jsonAnswer } from '../../http/json-answer.ts'
import { refusals } from '../../http/refusals.ts'

const reloadShape = z
  .object({
    reloaded: z.boolean().meta({ description: 'whether every living worker has read its folders' }),
    workers: z.int(),
    tools: z.int(),
    faults: z.array(z.object({ folder: z.string(), faults: z.array(z.string()) })),
  })
  .meta({ id: 'Reload' })

const postReload = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/tools/reload',
    tags: ['tools'],
    ...guarded(guard, 'tools:manage'),
    summary: 'Read the folders of the tools again',
    description:
      'Scope `tools:manage`. Waits until the workers have read them; images that changed are built after that, and builds that failed are tried again.',
    responses: { ...jsonAnswer('What was found', reloadShape), ...problems(...refusals) },
  })

type Deps = { pool: Pool; guard: Guard }

export function addReloadToolsRoutes(api: Api, { pool, guard }: Deps): void {
  api.openapi(postReload(guard), async (c) => {
    const wish = await requestReload(pool)
    const { scans, isAnswered } = await awaitScans(pool, wish, c.req.raw.signal)
    const key = c.get('key')
    const found = scans[0]?.faults.filter(({ folder }) => mayUseTool(key, folder)) ?? []
    const all = scans[0]?.tool_count ?? 0
    // A bound key is told of its own tools, and not how many others there are.
    const tools = key.tools === null ? all : await countOwn(pool, key)
    return c.json({ reloaded: isAnswered, workers: scans.length, tools, faults: found }, 200)
  })
}

async function countOwn(pool: Pool, key: AccessKey): Promise<number> {
  const tools = await readCatalog(pool)
  return tools.filter(({ name, faults }) => mayUseTool(key, name) && faults.length === 0).length
}

const reloadWaitMs = 10_000
const askEveryMs = 50

async function awaitScans(
  pool: Pool,
  wish: number,
  signal: AbortSignal,
): Promise<{ scans: ScanRow[]; isAnswered: boolean }> {
  const deadline = performance.now() + reloadWaitMs
  for (;;) {
    const workers = await listLiveWorkers(pool)
    const scans = (await listScans(pool, workers)).filter(({ reload }) => reload >= wish)
    if (workers.size > 0 && scans.length >= workers.size) return { scans, isAnswered: true }
    if (workers.size === 0 || performance.now() > deadline) return { scans, isAnswered: false }
    // Who asked may leave: nobody reads the answer then.
    await delay(askEveryMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return { scans, isAnswered: false }
  }
}
