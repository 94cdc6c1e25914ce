import { createRoute, z } from '@hono/zod-openapi'
import type { Catalog } from '@toolyard/catalog/create-catalog'
import { requireTool, unknownTool } from '@toolyard/catalog/require-tool'
import { forgetQuery } from '@toolyard/contract/search'
import { memoryListShape, toolMemoryShape } from '@toolyard/contract/memory'
import type { Pool } from '@toolyard/db/pool'
import { getToolMemory } from '@toolyard/memory/get-tool-memory'
import { listMemory } from '@toolyard/memory/list-memory'
import { forgetLessons } from '@toolyard/relevance/forget-lessons'
import type { Api } from '../create-api.ts'
import type { Guard } from '../http/authenticate.ts'
import { guarded } from '../http/authenticate.ts'
import { callOf } from '../http/call-of.ts'
import { pageQuery } from '../http/page-query.ts'
import { problems } from '../http/problem.ts'
import { refusals } from '../http/refusals.ts'
import { toolParam } from '../http/tool-param.ts'

const getOne = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/tools/{name}/memory',
    tags: ['memory'],
    ...guarded(guard, 'memory:read'),
    summary: 'What the outcomes of a tool have taught',
    description:
      'Scope `memory:read`. Overall, and for each topic that the key may see; a key that is bound to topics sees of the whole only the weight.',
    request: { params: toolParam },
    responses: {
      200: {
        description: 'Its memory',
        content: { 'application/json': { schema: toolMemoryShape.meta({ id: 'ToolMemory' }) } },
      },
      ...problems(...refusals, 'unknown_tool'),
    },
  })

const getMany = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/memory',
    tags: ['memory'],
    ...guarded(guard, 'memory:read'),
    summary: 'What has been learned of all tools that have outcomes',
    description: 'Scope `memory:read`. With `topic` also what is known of each in that topic.',
    request: { query: pageQuery.extend({ topic: z.string().min(1).max(300).optional() }) },
    responses: {
      200: {
        description: 'One page, by name',
        content: { 'application/json': { schema: memoryListShape.meta({ id: 'MemoryPage' }) } },
      },
      ...problems(...refusals, 'invalid_request', 'not_found'),
    },
  })

const deleteLessons = (guard: Guard) =>
  createRoute({
    method: 'delete',
    path: '/memory/lessons',
    tags: ['memory'],
    ...guarded(guard, 'tools:manage'),
    summary: 'Forget what searches have taught',
    description:
      'Scope `tools:manage`. Of a tool, of a topic, or of a tool in a topic: the lessons and the words that taught them. What outcomes add up to stays.',
    request: { query: forgetQuery },
    responses: {
      200: {
        description: 'How many lessons',
        content: { 'application/json': { schema: z.object({ forgotten: z.int() }) } },
      },
      ...problems(...refusals, 'invalid_request', 'not_found'),
    },
  })

export type MemoryDeps = { pool: Pool; catalog: Catalog; guard: Guard }

export function addMemoryRoutes(api: Api, { pool, catalog, guard }: MemoryDeps): void {
  api.openapi(getOne(guard), async (c) => {
    const { name } = c.req.valid('param')
    const { actor } = callOf(c)
    requireTool(actor, name)
    if (!(await catalog.view()).byName.has(name)) throw unknownTool(name)
    return c.json(await getToolMemory(pool, actor, name), 200)
  })
  api.openapi(getMany(guard), async (c) =>
    c.json(await listMemory(pool, callOf(c).actor, c.req.valid('query')), 200),
  )
  api.openapi(deleteLessons(guard), async (c) =>
    c.json({ forgotten: await forgetLessons(pool, callOf(c), c.req.valid('query')) }, 200),
  )
}
