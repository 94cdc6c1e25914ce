import { createRoute, z } from '@hono/zod-openapi'
import { invocationStatuses, isFinal } from '@toolyard/contract/invocations'
import type { AccessKey } from '@toolyard/access/access-key'
import type { Pool } from '@toolyard/db/pool'
import { getInvocation } from '@toolyard/invocations/get'
import { getRaw } from '@toolyard/invocations/get-raw'
import type { Invocation } from '@toolyard/invocations/invocation'
import { toInvocationShape } from '@toolyard/invocations/invocation-shape'
import { listInvocations } from '@toolyard/invocations/list'
import type { Watcher } from '@toolyard/invocations/watcher'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { pageQuery } from '../../http/page-query.ts'
import { problems } from '../../http/problem.ts'
import { refusals } from '../../http/refusals.ts'
import { invocation, invocationAnswer } from './invocation-schema.ts'

export const idParam = z.object({
  id: z
    .string()
    .max(100)
    .meta({ param: { name: 'id', in: 'path' } }),
})

const waitQuery = z.strictObject({
  wait: z.coerce
    .number()
    .min(0)
    .max(60)
    .optional()
    .meta({ description: 'how many seconds to wait for the end' }),
})

const listQuery = pageQuery.extend({
  tool: z.string().max(300).optional(),
  status: z.enum(invocationStatuses).optional(),
  topic: z.string().max(300).optional(),
})

const page = z
  .object({ invocations: z.array(invocation), next_cursor: z.string().nullable() })
  .meta({ id: 'InvocationPage' })

const getOne = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/invocations/{id}',
    tags: ['invocations'],
    ...guarded(guard, 'invocations:read'),
    summary: 'How an invocation stands',
    description:
      'Scope `invocations:read`; with `invocations:raw` a failure shows the end of what the tool wrote to stderr.',
    request: { params: idParam, query: waitQuery },
    responses: {
      200: invocationAnswer('The invocation'),
      ...problems(...refusals, 'not_found', 'invalid_request'),
    },
  })

const getMany = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/invocations',
    tags: ['invocations'],
    ...guarded(guard, 'invocations:read'),
    summary: 'The invocations that the key may see, newest first',
    description: 'Scope `invocations:read`. Results are left out: they are read one by one.',
    request: { query: listQuery },
    responses: {
      200: { description: 'One page', content: { 'application/json': { schema: page } } },
      ...problems(...refusals, 'invalid_request'),
    },
  })

export type ReadInvocationsDeps = { pool: Pool; watcher: Watcher; guard: Guard }

export function addReadInvocationsRoutes(api: Api, { pool, watcher, guard }: ReadInvocationsDeps): void {
  api.openapi(getOne(guard), async (c) => {
    const { id } = c.req.valid('param')
    const { actor } = callOf(c)
    const waitMs = (c.req.valid('query').wait ?? 0) * 1_000
    // Asked first: who may not see it must not learn from a wait that it exists.
    let one = await getInvocation(pool, actor, id)
    if (waitMs > 0 && !isFinal(one.status)) {
      await watcher.waitFinal(id, waitMs, c.req.raw.signal)
      one = await getInvocation(pool, actor, id)
    }
    return c.json(toInvocationShape(one, await stderrTail(pool, actor.key, one)), 200)
  })
  api.openapi(getMany(guard), async (c) => {
    const { invocations, nextCursor } = await listInvocations(pool, callOf(c).actor, c.req.valid('query'))
    return c.json(
      { invocations: invocations.map((one) => toInvocationShape(one)), next_cursor: nextCursor },
      200,
    )
  })
}

async function stderrTail(pool: Pool, key: AccessKey, one: Invocation): Promise<string | undefined> {
  if (one.failure === null || !key.scopes.includes('invocations:raw')) return undefined
  const raw = await getRaw(pool, { kind: 'key', key }, one.id)
  return raw?.stderrTail.toString('utf8')
}
