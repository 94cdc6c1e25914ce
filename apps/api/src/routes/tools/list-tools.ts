import { createRoute, z } from '@hono/zod-openapi'
import type { Actor } from '@toolyard/access/actor'
import { mayUseTool } from '@toolyard/access/key-bindings'
import type { Catalog, CatalogView } from '@toolyard/catalog/create-catalog'
import { readProgress } from '@toolyard/catalog/read-progress'
import { unknownTool } from '@toolyard/catalog/require-tool'
import type { OverallMemoryShape } from '@toolyard/contract/memory'
import { toolListShape, toolShape } from '@toolyard/contract/tools'
import type { ToolShape } from '@toolyard/contract/tools'
import type { Pool } from '@toolyard/db/pool'
import type { ToolBudget } from '@toolyard/memory/budget'
import { budgetsOf, toBudgetShape } from '@toolyard/memory/budget'
import { memoriesOf } from '@toolyard/memory/memories-of'
import { statusOf } from '@toolyard/vault/status-of'
import { storedKeys } from '@toolyard/vault/stored-keys'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import { callableTools } from './callable-tools.ts'
import { formatQuery, functionList, toFunctionList } from './function-list.ts'
import { refusals } from '../../http/refusals.ts'
import { toolParam } from '../../http/tool-param.ts'
import type { ShapeRules } from './to-tool-shape.ts'
import { toToolShape } from './to-tool-shape.ts'

const tool = toolShape.meta({ id: 'Tool' })
const toolList = toolListShape.extend({ tools: z.array(tool) }).meta({ id: 'ToolList' })
const oneTool = tool
  .extend({ progress: z.string().nullable().meta({ description: 'the last line of the build under way' }) })
  .meta({ id: 'ToolWithProgress' })

const getTools = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/tools',
    tags: ['tools'],
    ...guarded(guard, 'tools:read'),
    summary: 'All tools that the key may see, by name',
    description:
      'Scope `tools:read`. A folder that is no tool yet is listed too: `image.error` says why. `status`: `system` has nothing to configure, `available` lacks a required setting, `connected` has all of them. With `format` only those are listed that a model can call: on demand, switched on, with all their settings.',
    request: { query: formatQuery },
    responses: {
      200: {
        description: 'The tools',
        content: { 'application/json': { schema: z.union([toolList, functionList]) } },
      },
      ...problems(...refusals, 'invalid_request'),
    },
  })

const getTool = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/tools/{name}',
    tags: ['tools'],
    ...guarded(guard, 'tools:read'),
    summary: 'One tool',
    description: 'Scope `tools:read`.',
    request: { params: toolParam },
    responses: {
      200: { description: 'The tool', content: { 'application/json': { schema: oneTool } } },
      ...problems(...refusals, 'unknown_tool'),
    },
  })

export type ListToolsDeps = { pool: Pool; catalog: Catalog; guard: Guard; rules: ShapeRules }

export function addListToolsRoutes(api: Api, { pool, catalog, guard, rules }: ListToolsDeps): void {
  const shapesOf = rememberShapes(rules)

  api.openapi(getTools(guard), async (c) => {
    const view = await catalog.view()
    const key = c.get('key')
    const { format } = c.req.valid('query')
    if (format !== undefined)
      return c.json(toFunctionList(await callableTools(pool, { view, key }), format), 200)
    const shapes = shapesOf(view).filter(({ name }) => mayUseTool(key, name))
    const tools = await completeShapes(pool, { actor: callOf(c).actor, view, shapes })
    return c.json({ tools, count: tools.length }, 200)
  })
  api.openapi(getTool(guard), async (c) => {
    const { name } = c.req.valid('param')
    const view = await catalog.view()
    const shapes = shapesOf(view).filter((each) => each.name === name && mayUseTool(c.get('key'), name))
    const [shape] = await completeShapes(pool, { actor: callOf(c).actor, view, shapes })
    if (shape === undefined) throw unknownTool(name)
    const progress = shape.image.state === 'building' ? await readProgress(pool, name) : null
    return c.json({ ...shape, progress }, 200)
  })
}

/** Shapes change with the view; only the status changes without it. */
function rememberShapes(rules: ShapeRules): (view: CatalogView) => readonly ToolShape[] {
  let latest: { view: CatalogView; shapes: readonly ToolShape[] } | undefined
  return (view) => {
    if (latest?.view !== view)
      latest = { view, shapes: view.tools.map((each) => toToolShape(each, 'system', rules)) }
    return latest.shapes
  }
}

type Incomplete = { actor: Actor; view: CatalogView; shapes: readonly ToolShape[] }

/** Adds what changes without the view: settings that are stored, outcomes, what was spent. */
async function completeShapes(pool: Pool, { actor, view, shapes }: Incomplete): Promise<ToolShape[]> {
  const names = shapes.map(({ name }) => name)
  const limits = new Map(
    names.map((name) => [name, view.byName.get(name)?.manifest?.constraints.cost_budget ?? null]),
  )
  const [stored, memories, budgets] = await Promise.all([
    storedKeys(pool),
    memoriesOf(pool, actor, names),
    budgetsOf(pool, limits),
  ])
  return shapes.map((shape) => complete(shape, { stored, memories, budgets }))
}

type Known = {
  stored: ReadonlyMap<string, ReadonlySet<string>>
  memories: ReadonlyMap<string, OverallMemoryShape>
  budgets: ReadonlyMap<string, ToolBudget>
}

function complete(shape: ToolShape, { stored, memories, budgets }: Known): ToolShape {
  const [memory, spent] = [memories.get(shape.name), budgets.get(shape.name)]
  const budget = spent && toBudgetShape(spent)
  return {
    ...shape,
    status: statusOf(shape.config_schema, stored.get(shape.name) ?? nothing),
    ...(budget === undefined ? {} : { budget }),
    ...(memory === undefined ? {} : { memory }),
  }
}

const nothing: ReadonlySet<string> = new Set()
