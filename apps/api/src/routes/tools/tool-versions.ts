import { createRoute, z } from '@hono/zod-openapi'
import type { VersionRow } from '@toolyard/catalog/list-versions'
import { listVersions } from '@toolyard/catalog/list-versions'
import { rollBack } from '@toolyard/catalog/roll-back'
import type { Pool } from '@toolyard/db/pool'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import { jsonAnswer } from '../../http/json-answer.ts'
import { bodyRefusals, refusals } from '../../http/refusals.ts'
import { toolParam } from '../../http/tool-param.ts'

const versionsShape = z
  .object({
    versions: z.array(
      z.object({
        hash: z.string(),
        version: z.string(),
        found_at: z.iso.datetime(),
        served_at: z.iso.datetime().nullable(),
        is_current: z.boolean(),
        is_wanted: z.boolean().meta({ description: 'the folder holds it' }),
        is_refused: z.boolean().meta({ description: 'it was rolled back from' }),
        images: z.int().meta({ description: 'engines that have an image of it' }),
      }),
    ),
  })
  .meta({ id: 'ToolVersions' })

const getVersions = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/tools/{name}/versions',
    tags: ['tools'],
    ...guarded(guard, 'tools:read'),
    summary: 'The versions of a tool, the one that served last first',
    description: 'Scope `tools:read`.',
    request: { params: toolParam },
    responses: { ...jsonAnswer('The newest 50', versionsShape), ...problems(...refusals, 'unknown_tool') },
  })

const rollbackBody = z.strictObject({
  to: z
    .string()
    .regex(/^[0-9a-f]{4,64}$/, 'must be the beginning of a hash, 4 digits at least')
    .optional(),
})
const rolledBackShape = z.object({ from: z.string().nullable(), to: z.string() })

const postRollback = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/tools/{name}/rollback',
    tags: ['tools'],
    ...guarded(guard, 'tools:manage'),
    summary: 'Go back to another version of a tool',
    description:
      'Scope `tools:manage`. To the version that served before, unless one is named. The folder’s version is not served again until the folder changes.',
    request: {
      params: toolParam,
      body: { required: false, content: { 'application/json': { schema: rollbackBody } } },
    },
    responses: {
      ...jsonAnswer('From and to', rolledBackShape),
      ...problems(...refusals, ...bodyRefusals, 'unknown_tool', 'not_found'),
    },
  })

type Deps = { pool: Pool; guard: Guard }

export function addToolVersionsRoutes(api: Api, { pool, guard }: Deps): void {
  api.openapi(getVersions(guard), async (c) => {
    const rows = await listVersions(pool, callOf(c).actor, c.req.valid('param').name)
    const versions = rows.map(toShape)
    return c.json({ versions }, 200)
  })
  api.openapi(postRollback(guard), async (c) => {
    const body = c.req.valid('json')
    return c.json(await rollBack(pool, callOf(c), c.req.valid('param').name, body?.to), 200)
  })
}

function toShape(row: VersionRow) {
  const { hash, version, is_current, is_wanted, is_refused } = row
  return {
    hash,
    version,
    found_at: row.found_at.toISOString(),
    served_at: row.served_at?.toISOString() ?? null,
    is_current,
    is_wanted,
    is_refused,
    images: row.image_count,
  }
}
