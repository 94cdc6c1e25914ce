import { createRoute, z } from '@hono/zod-openapi'
import type { AccessKey } from '@toolyard/access/access-key'
import { mayUseTool } from '@toolyard/access/key-bindings'
import { idempotencyKey } from '@toolyard/contract/invocations'
import { notificationBody, notifiedShape } from '@toolyard/contract/prompts'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import type { SubmitRequestDeps } from '../invocations/submit-request.ts'
import { bodyRefusals, refusals } from '../../http/refusals.ts'
import { notifyTools } from './notify-tools.ts'

const notified = notifiedShape.meta({ id: 'Notified' })

const headers = z.object({ 'idempotency-key': idempotencyKey.optional() })

const postNotifications = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/notifications',
    tags: ['prompts'],
    ...guarded(guard, 'tools:invoke'),
    summary: 'Notify people of something',
    description:
      'Scope `tools:invoke`. Calls every tool whose manifest says `notification.default_enabled`, as far as the key may use it, with the params `{message}`. One that cannot be called is named with its refusal. With the same `Idempotency-Key` and body each of them is called once in 24 hours.',
    request: {
      headers,
      body: { required: true, content: { 'application/json': { schema: notificationBody } } },
    },
    responses: {
      202: {
        description: 'The tools that are called, and those that are not',
        content: { 'application/json': { schema: notified } },
      },
      ...problems(
        ...refusals,
        ...bodyRefusals,
        'not_found',
        'topic_required',
        'tools_disabled',
        'idempotency_mismatch',
      ),
    },
  })

export type NotificationDeps = SubmitRequestDeps & { guard: Guard }

export function addNotificationRoutes(api: Api, deps: NotificationDeps): void {
  api.openapi(postNotifications(deps.guard), async (c) => {
    const { key } = callOf(c).actor
    const told = await notifyTools(deps, {
      key,
      tools: await toolsForNotifications(deps, key),
      notification: c.req.valid('json'),
      idempotencyKey: c.req.valid('header')['idempotency-key'],
      onFault: (error) => c.get('event').set({ code: 'internal', error }),
    })
    if (told.isReplayed) c.header('idempotency-replayed', 'true')
    return c.json(told.answer, 202)
  })
}

async function toolsForNotifications(
  { catalog }: Pick<NotificationDeps, 'catalog'>,
  key: AccessKey,
): Promise<string[]> {
  const { tools } = await catalog.view()
  return tools
    .filter(({ name, manifest }) => manifest?.notification?.default_enabled === true && mayUseTool(key, name))
    .map(({ name }) => name)
}
