import { createRoute, z } from '@hono/zod-openapi'
import { setToolEnabled } from '@toolyard/catalog/set-tool-enabled'
import { readToolsSwitch, setToolsSwitch } from '@toolyard/catalog/tools-switch'
import { toolsEnabledShape } from '@toolyard/contract/tools'
import type { Pool } from '@toolyard/db/pool'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import { jsonAnswer } from '../../http/json-answer.ts'
import { bodyRefusals, refusals } from '../../http/refusals.ts'
import { toolParam } from '../../http/tool-param.ts'

const okShape = z.object({ ok: z.literal(true) })

const switchTool = (guard: Guard, verb: 'enable' | 'disable') =>
  createRoute({
    method: 'post',
    path: `/tools/{name}/${verb}`,
    tags: ['tools'],
    ...guarded(guard, 'tools:manage'),
    summary: verb === 'enable' ? 'Turn a tool on' : 'Turn a tool off',
    description:
      'Scope `tools:manage`. In force at once on every process; what runs is not touched, what is queued waits.',
    request: { params: toolParam },
    responses: { ...jsonAnswer('Done', okShape), ...problems(...refusals, 'unknown_tool') },
  })

const getSwitch = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/settings/tools_enabled',
    tags: ['tools'],
    ...guarded(guard, 'tools:read'),
    summary: 'Whether tools are run at all',
    description: 'Scope `tools:read`.',
    responses: { ...jsonAnswer('The switch', toolsEnabledShape), ...problems(...refusals) },
  })

const putSwitch = (guard: Guard) =>
  createRoute({
    method: 'put',
    path: '/settings/tools_enabled',
    tags: ['tools'],
    ...guarded(guard, 'tools:manage'),
    summary: 'The kill switch for all tools',
    description:
      'Scope `tools:manage`, with a key that is bound to nothing. In force at once on every process; what runs is not touched, what is queued waits.',
    request: {
      body: { required: true, content: { 'application/json': { schema: toolsEnabledShape } } },
    },
    responses: { ...jsonAnswer('The switch', toolsEnabledShape), ...problems(...refusals, ...bodyRefusals) },
  })

type Deps = { pool: Pool; guard: Guard }

export function addSwitchToolsRoutes(api: Api, { pool, guard }: Deps): void {
  for (const verb of ['enable', 'disable'] as const) {
    api.openapi(switchTool(guard, verb), async (c) => {
      await setToolEnabled(pool, callOf(c), c.req.valid('param').name, verb === 'enable')
      return c.json({ ok: true as const }, 200)
    })
  }
  api.openapi(getSwitch(guard), async (c) => c.json({ enabled: await readToolsSwitch(pool) }, 200))
  api.openapi(putSwitch(guard), async (c) => {
    const { enabled } = c.req.valid('json')
    await setToolsSwitch(pool, callOf(c), enabled)
    return c.json({ enabled }, 200)
  })
}
