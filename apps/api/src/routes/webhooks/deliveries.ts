import { createRoute, z } from '@hono/zod-openapi'
import { callbackSecretShape, deliveryShape } from '@toolyard/contract/webhooks'
import type { AfterCommit } from '@toolyard/invocations/after-commit'
import { getInvocation } from '@toolyard/invocations/get'
import { findCallbackSecret, renewCallbackSecret } from '@toolyard/webhooks/callback-secret'
import { getDelivery, listDeliveries, listDeliveriesOf } from '@toolyard/webhooks/list-deliveries'
import { toDeliveryJob } from '@toolyard/webhooks/delivery-job'
import { retryDelivery } from '@toolyard/webhooks/retry-delivery'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { pageQuery } from '../../http/page-query.ts'
import { problems } from '../../http/problem.ts'
import { refusals } from '../../http/refusals.ts'
import type { WebhookRouteDeps } from './webhooks.ts'
import { idParam } from './webhooks.ts'

const delivery = deliveryShape.meta({ id: 'Delivery' })
const page = z
  .object({ deliveries: z.array(delivery), next_cursor: z.string().nullable() })
  .meta({ id: 'DeliveryPage' })
const callbackSecret = callbackSecretShape.meta({ id: 'CallbackSecret' })
const newCallbackSecret = callbackSecretShape.extend({ secret: z.string() }).meta({ id: 'NewCallbackSecret' })

const getDeliveries = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/webhooks/{id}/deliveries',
    tags: ['webhooks'],
    ...guarded(guard, 'webhooks:manage'),
    summary: 'List what a webhook was told, newest first',
    description: 'Scope `webhooks:manage`. With each try: what was answered, or why nothing was.',
    request: { params: idParam, query: pageQuery },
    responses: {
      200: { description: 'One page', content: { 'application/json': { schema: page } } },
      ...problems(...refusals, 'invalid_request'),
    },
  })

const getDeliveriesOf = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/invocations/{id}/deliveries',
    tags: ['webhooks'],
    ...guarded(guard, 'invocations:read'),
    summary: 'List what was told of an invocation, newest first',
    description:
      'Scope `invocations:read`. The messages to the `callback_url` of the own calls; with `webhooks:manage` also those of others, and those to webhooks. A bound key sees its own.',
    request: { params: idParam, query: pageQuery },
    responses: {
      200: { description: 'One page', content: { 'application/json': { schema: page } } },
      ...problems(...refusals, 'not_found', 'invalid_request'),
    },
  })

const getOneDelivery = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/deliveries/{id}',
    tags: ['webhooks'],
    ...guarded(guard, 'webhooks:manage', 'tools:invoke'),
    summary: 'Show a delivery with its tries',
    description:
      'Scope `webhooks:manage`; for the callbacks of its own calls a key needs `tools:invoke`. Its id is the `webhook-id` that the receiver was sent.',
    request: { params: idParam },
    responses: {
      200: { description: 'The delivery', content: { 'application/json': { schema: delivery } } },
      ...problems(...refusals, 'not_found'),
    },
  })

const postRetry = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/deliveries/{id}/retry',
    tags: ['webhooks'],
    ...guarded(guard, 'webhooks:manage', 'tools:invoke'),
    summary: 'Send it once more, now',
    description:
      'Scope `webhooks:manage`; for the callbacks of its own calls a key needs `tools:invoke`. What was given up or dropped, and what waits for its time.',
    request: { params: idParam },
    responses: {
      202: { description: 'It is sent', content: { 'application/json': { schema: delivery } } },
      ...problems(
        ...refusals,
        'not_found',
        'already_final',
        'being_sent',
        'webhook_inactive',
        'key_inactive',
        'not_kept',
      ),
    },
  })

const getCallbackSecret = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/webhooks/callback-secret',
    tags: ['webhooks'],
    ...guarded(guard, 'tools:invoke'),
    summary: 'Whether this key has a callback secret',
    description:
      'Scope `tools:invoke`. It signs what is sent to the `callback_url` of the calls of this key.',
    responses: {
      200: { description: 'Whether it has', content: { 'application/json': { schema: callbackSecret } } },
      ...problems(...refusals),
    },
  })

const postCallbackSecret = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/webhooks/callback-secret',
    tags: ['webhooks'],
    ...guarded(guard, 'tools:invoke'),
    summary: 'Make a callback secret, or a new one',
    description: 'Scope `tools:invoke`. It is shown this once. The one before signs as well for a day.',
    responses: {
      201: { description: 'The secret', content: { 'application/json': { schema: newCallbackSecret } } },
      ...problems(...refusals, 'secrets_unavailable'),
    },
  })

export type DeliveryRouteDeps = WebhookRouteDeps & { afterCommit: Pick<AfterCommit, 'run'> }

export function addDeliveryRoutes(api: Api, { pool, vault, guard, afterCommit }: DeliveryRouteDeps): void {
  api.openapi(getCallbackSecret(guard), async (c) => {
    const { exists, rotatedUntil } = await findCallbackSecret(pool, callOf(c).actor)
    return c.json({ exists, rotated_until: rotatedUntil?.toISOString() ?? null }, 200)
  })
  api.openapi(postCallbackSecret(guard), async (c) => {
    const { exists, rotatedUntil, secret } = await renewCallbackSecret(await vault(), callOf(c))
    return c.json({ exists, rotated_until: rotatedUntil?.toISOString() ?? null, secret }, 201)
  })
  api.openapi(getDeliveries(guard), async (c) => {
    const { id } = c.req.valid('param')
    const { deliveries, nextCursor } = await listDeliveries(pool, callOf(c).actor, id, c.req.valid('query'))
    return c.json({ deliveries, next_cursor: nextCursor }, 200)
  })
  api.openapi(getDeliveriesOf(guard), async (c) => {
    const { id } = c.req.valid('param')
    const { actor } = callOf(c)
    await getInvocation(pool, actor, id)
    const { deliveries, nextCursor } = await listDeliveriesOf(pool, actor, id, c.req.valid('query'))
    return c.json({ deliveries, next_cursor: nextCursor }, 200)
  })
  api.openapi(getOneDelivery(guard), async (c) =>
    c.json(await getDelivery(pool, callOf(c).actor, c.req.valid('param').id), 200),
  )
  api.openapi(postRetry(guard), async (c) => {
    const { id } = c.req.valid('param')
    const retried = await retryDelivery(pool, callOf(c), id)
    afterCommit.run({ deliveries: [toDeliveryJob(retried)] })
    return c.json(await getDelivery(pool, callOf(c).actor, id), 202)
  })
}
