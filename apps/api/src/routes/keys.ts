import { createRoute, z } from '@hono/zod-openapi'
import { toKeyShape } from '@toolyard/access/access-key'
import { createKey } from '@toolyard/access/create-key'
import { getKey } from '@toolyard/access/get-key'
import { listKeys } from '@toolyard/access/list-keys'
import { revokeKey } from '@toolyard/access/revoke-key'
import { keyShape, newKeyBody, newKeyShape } from '@toolyard/contract/keys'
import type { Pool } from '@toolyard/db/pool'
import type { Api } from '../create-api.ts'
import type { Guard } from '../http/authenticate.ts'
import { guarded } from '../http/authenticate.ts'
import { callOf } from '../http/call-of.ts'
import { pageQuery } from '../http/page-query.ts'
import { problems } from '../http/problem.ts'

const key = keyShape.meta({ id: 'Key' })
const newKey = newKeyShape.meta({ id: 'NewKey' })
const keyPage = z.object({ keys: z.array(key), next_cursor: z.string().nullable() }).meta({ id: 'KeyPage' })
const idParam = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' } }) })

const refusals = ['unauthenticated', 'missing_scope', 'rate_limited', 'store_unavailable'] as const

const postKeys = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/keys',
    tags: ['access'],
    ...guarded(guard, 'keys:manage'),
    summary: 'Make a key',
    description:
      'Scope `keys:manage`. The answer shows the key this once. A key can give no more than it has: scopes, topics, tools and expiry stay within its own.',
    request: { body: { required: true, content: { 'application/json': { schema: newKeyBody } } } },
    responses: {
      201: { description: 'The new key', content: { 'application/json': { schema: newKey } } },
      ...problems(
        ...refusals,
        'malformed_request',
        'unsupported_media_type',
        'payload_too_large',
        'invalid_request',
      ),
    },
  })

const getKeys = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/keys',
    tags: ['access'],
    ...guarded(guard, 'keys:manage'),
    summary: 'List the keys, newest first',
    description: 'Scope `keys:manage`. A bound key sees the keys whose bindings lie within its own.',
    request: { query: pageQuery },
    responses: {
      200: { description: 'One page', content: { 'application/json': { schema: keyPage } } },
      ...problems(...refusals, 'invalid_request'),
    },
  })

const getOneKey = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/keys/{id}',
    tags: ['access'],
    ...guarded(guard, 'keys:manage'),
    summary: 'Show a key',
    description: 'Scope `keys:manage`. Never its secret.',
    request: { params: idParam },
    responses: {
      200: { description: 'The key', content: { 'application/json': { schema: key } } },
      ...problems(...refusals, 'not_found'),
    },
  })

const deleteKey = (guard: Guard) =>
  createRoute({
    method: 'delete',
    path: '/keys/{id}',
    tags: ['access'],
    ...guarded(guard, 'keys:manage'),
    summary: 'Revoke a key',
    description: 'Scope `keys:manage`. In force everywhere within 2 s. Revoking again changes nothing.',
    request: { params: idParam },
    responses: {
      200: { description: 'The revoked key', content: { 'application/json': { schema: key } } },
      ...problems(...refusals, 'not_found'),
    },
  })

export function addKeyRoutes(api: Api, { pool, guard }: { pool: Pool; guard: Guard }): void {
  api.openapi(postKeys(guard), async (c) => {
    const made = await createKey(pool, callOf(c), c.req.valid('json'))
    c.header('location', `/keys/${made.key.id}`)
    return c.json({ ...toKeyShape(made.key), key: made.token }, 201)
  })
  api.openapi(getKeys(guard), async (c) => {
    const { keys, nextCursor } = await listKeys(pool, callOf(c).actor, c.req.valid('query'))
    return c.json({ keys: keys.map(toKeyShape), next_cursor: nextCursor }, 200)
  })
  api.openapi(getOneKey(guard), async (c) =>
    c.json(toKeyShape(await getKey(pool, callOf(c).actor, c.req.valid('param').id)), 200),
  )
  api.openapi(deleteKey(guard), async (c) =>
    c.json(toKeyShape(await revokeKey(pool, callOf(c), c.req.valid('param').id)), 200),
  )
}
