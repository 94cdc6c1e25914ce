import { createRoute, z } from '@hono/zod-openapi'
import { listAudit, toAuditEntryShape } from '@toolyard/access/list-audit'
import { auditEntryShape } from '@toolyard/contract/keys'
import type { Pool } from '@toolyard/db/pool'
import type { Api } from '../create-api.ts'
import type { Guard } from '../http/authenticate.ts'
import { guarded } from '../http/authenticate.ts'
import { callOf } from '../http/call-of.ts'
import { pageQuery } from '../http/page-query.ts'
import { problems } from '../http/problem.ts'

const auditPage = z
  .object({
    entries: z.array(auditEntryShape.meta({ id: 'AuditEntry' })),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'AuditPage' })

const getAudit = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/audit',
    tags: ['access'],
    ...guarded(guard, 'keys:manage', 'ops:view'),
    summary: 'Every administrative call, newest first',
    description:
      'Scope `keys:manage` or `ops:view`. A bound key sees what was done by or to keys within its own bindings.',
    request: { query: pageQuery },
    responses: {
      200: { description: 'One page', content: { 'application/json': { schema: auditPage } } },
      ...problems('unauthenticated', 'missing_scope', 'rate_limited', 'store_unavailable', 'invalid_request'),
    },
  })

export function addAuditRoutes(api: Api, { pool, guard }: { pool: Pool; guard: Guard }): void {
  api.openapi(getAudit(guard), async (c) => {
    const { entries, nextCursor } = await listAudit(pool, callOf(c).actor, c.req.valid('query'))
    return c.json({ entries: entries.map(toAuditEntryShape), next_cursor: nextCursor }, 200)
  })
}
