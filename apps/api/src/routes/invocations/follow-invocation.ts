import { createRoute, z } from '@hono/zod-openapi'
import type { Pool } from '@toolyard/db/pool'
import { getInvocation } from '@toolyard/invocations/get'
import { isFinal } from '@toolyard/contract/invocations'
import { eventsSince } from '@toolyard/invocations/status-events'
import type { Api } from '../../create-api.ts'
import { eventStreamType } from '../../events/event-frame.ts'
import type { InvocationEvents } from '../../events/invocation-events.ts'
import type { Guard, KeyCheck } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import { refusals } from '../../http/refusals.ts'
import { idParam } from './read-invocations.ts'

const headers = z.object({
  'last-event-id': z.string().optional().meta({ description: 'the id of the last status event one has' }),
})

const description = [
  'Scope `invocations:read`. Server-Sent Events until the invocation is final.',
  '`status`: `{id, status, attempts, waiting_for?, cancel_requested?}`, at first as it stands; with `Last-Event-ID` what has come since.',
  '`stderr`, with `invocations:raw` only: `{attempt, text, gap?}`, what the tool writes while one is there, without its secrets; at most 10 of 4 kB a second, and `gap` where something is missing before it.',
].join(' ')

const getEvents = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/invocations/{id}/events',
    tags: ['invocations'],
    ...guarded(guard, 'invocations:read'),
    summary: 'Follow an invocation',
    description,
    request: { params: idParam, headers },
    responses: {
      200: { description: 'The events', content: { [eventStreamType]: { schema: z.string() } } },
      204: { description: 'It is final, and the last event is known: do not come back' },
      ...problems(...refusals, 'not_found', 'invalid_request'),
    },
  })

export type FollowInvocationDeps = {
  pool: Pool
  events: InvocationEvents
  guard: Guard
  checkKey: KeyCheck
}

export function addFollowInvocationRoute(api: Api, deps: FollowInvocationDeps): void {
  const { pool, events, guard, checkKey } = deps
  api.openapi(getEvents(guard), async (c) => {
    const { id } = c.req.valid('param')
    const { actor } = callOf(c)
    const one = await getInvocation(pool, actor, id)
    const lastEventId = c.req.valid('header')['last-event-id']
    if (isFinal(one.status) && eventsSince(lastEventId, one).length === 0) return c.body(null, 204)
    const body = events.open({
      key: actor.key,
      one,
      lastEventId,
      checkKey: checkKey(c),
      outgoing: c.env.outgoing,
    })
    return c.body(body, 200, {
      'content-type': eventStreamType,
      // A proxy that collects answers would keep the events back.
      'x-accel-buffering': 'no',
      connection: 'close',
    })
  })
}
