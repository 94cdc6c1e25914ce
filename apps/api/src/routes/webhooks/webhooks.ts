import { createRoute, z } from '@hono/zod-openapi'
import { changeWebhook } from '@toolyard/webhooks/change-webhook'
import { createWebhook } from '@toolyard/webhooks/create-webhook'
import { deleteWebhook } from '@toolyard/webhooks/delete-webhook'
import type { GuardRules } from '@toolyard/webhooks/guard-rules'
import { getWebhook, listWebhooks } from '@toolyard/webhooks/list-webhooks'
import { toWebhookShape } from '@toolyard/webhooks/webhook'
import {
  changeWebhookBody,
  newWebhookBody,
  webhookShape,
  webhookWithSecretShape,
} from '@toolyard/contract/webhooks'
import type { Pool } from '@toolyard/db/pool'
import type { Vault } from '@toolyard/vault/open-vault'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { pageQuery } from '../../http/page-query.ts'
import { problems } from '../../http/problem.ts'
import { bodyRefusals, refusals } from '../../http/refusals.ts'

export const idParam = z.object({ id: z.string().meta({ param: { name: 'id', in: 'path' } }) })

const webhook = webhookShape.meta({ id: 'Webhook' })
const withSecret = webhookWithSecretShape.meta({ id: 'WebhookWithSecret' })
const page = z
  .object({ webhooks: z.array(webhook), next_cursor: z.string().nullable() })
  .meta({ id: 'WebhookPage' })

const postWebhooks = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/webhooks',
    tags: ['webhooks'],
    ...guarded(guard, 'webhooks:manage'),
    summary: 'Be told what happens',
    description:
      'Scope `webhooks:manage`, and `invocations:read` for the events `invocation.…`. Messages follow Standard Webhooks 1.0.0; the answer shows the secret that signs them this once. The webhook is told what its key may see, for as long as the key lives.',
    request: { body: { required: true, content: { 'application/json': { schema: newWebhookBody } } } },
    responses: {
      201: { description: 'The new webhook', content: { 'application/json': { schema: withSecret } } },
      ...problems(...refusals, ...bodyRefusals, 'secrets_unavailable'),
    },
  })

const getWebhooks = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/webhooks',
    tags: ['webhooks'],
    ...guarded(guard, 'webhooks:manage'),
    summary: 'List the webhooks, newest first',
    description: 'Scope `webhooks:manage`. A bound key sees its own.',
    request: { query: pageQuery },
    responses: {
      200: { description: 'One page', content: { 'application/json': { schema: page } } },
      ...problems(...refusals, 'invalid_request'),
    },
  })

const getOneWebhook = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/webhooks/{id}',
    tags: ['webhooks'],
    ...guarded(guard, 'webhooks:manage'),
    summary: 'Show a webhook',
    description: 'Scope `webhooks:manage`. Never its secret.',
    request: { params: idParam },
    responses: {
      200: { description: 'The webhook', content: { 'application/json': { schema: webhook } } },
      ...problems(...refusals, 'not_found'),
    },
  })

const patchWebhook = (guard: Guard) =>
  createRoute({
    method: 'patch',
    path: '/webhooks/{id}',
    tags: ['webhooks'],
    ...guarded(guard, 'webhooks:manage'),
    summary: 'Change a webhook',
    description:
      'Scope `webhooks:manage`, and `invocations:read` for the events `invocation.…`. Of a webhook of another key only `enabled: false` is taken, but from a key with `keys:manage`. What is not named stays. `enabled: false` drops what waits to be sent; `resume` ends a pause and sends it; `rotate_secret` answers a new secret, and for a day both sign.',
    request: {
      params: idParam,
      body: { required: true, content: { 'application/json': { schema: changeWebhookBody } } },
    },
    responses: {
      200: { description: 'The webhook', content: { 'application/json': { schema: withSecret } } },
      ...problems(...refusals, ...bodyRefusals, 'not_found', 'secrets_unavailable'),
    },
  })

const deleteOneWebhook = (guard: Guard) =>
  createRoute({
    method: 'delete',
    path: '/webhooks/{id}',
    tags: ['webhooks'],
    ...guarded(guard, 'webhooks:manage'),
    summary: 'Remove a webhook',
    description: 'Scope `webhooks:manage`. What waits to be sent is dropped.',
    request: { params: idParam },
    responses: { 204: { description: 'It is gone' }, ...problems(...refusals, 'not_found') },
  })

export type WebhookRouteDeps = {
  pool: Pool
  vault: () => Promise<Vault>
  webhookRules: GuardRules
  guard: Guard
}

export function addWebhookRoutes(
  api: Api,
  { pool, vault, webhookRules: rules, guard }: WebhookRouteDeps,
): void {
  api.openapi(postWebhooks(guard), async (c) => {
    const made = await createWebhook({ vault: await vault(), rules }, callOf(c), c.req.valid('json'))
    c.header('location', `/webhooks/${made.webhook.id}`)
    return c.json({ ...toWebhookShape(made.webhook), secret: made.secret }, 201)
  })
  api.openapi(getWebhooks(guard), async (c) => {
    const { webhooks, nextCursor } = await listWebhooks(pool, callOf(c).actor, c.req.valid('query'))
    return c.json({ webhooks: webhooks.map(toWebhookShape), next_cursor: nextCursor }, 200)
  })
  api.openapi(getOneWebhook(guard), async (c) =>
    c.json(toWebhookShape(await getWebhook(pool, callOf(c).actor, c.req.valid('param').id)), 200),
  )
  api.openapi(patchWebhook(guard), async (c) => {
    const { id } = c.req.valid('param')
    const changed = await changeWebhook({ vault: await vault(), rules }, callOf(c), id, c.req.valid('json'))
    const secret = changed.secret === undefined ? {} : { secret: changed.secret }
    return c.json({ ...toWebhookShape(changed.webhook), ...secret }, 200)
  })
  api.openapi(deleteOneWebhook(guard), async (c) => {
    await deleteWebhook(await vault(), callOf(c), c.req.valid('param').id)
    return c.body(null, 204)
  })
}
