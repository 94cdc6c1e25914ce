import { createRoute, z } from '@hono/zod-openapi'
import { AppError } from '@toolyard/contract/errors'
import { feedbackBody, replayBody } from '@toolyard/contract/invocations'
import type { Pool } from '@toolyard/db/pool'
import type { AfterCommit } from '@toolyard/invocations/after-commit'
import { cancel } from '@toolyard/invocations/cancel'
import type { Within } from '@toolyard/invocations/close-rows'
import { getInvocation } from '@toolyard/invocations/get'
import { giveFeedback } from '@toolyard/invocations/give-feedback'
import { toInvocationShape } from '@toolyard/invocations/invocation-shape'
import { readReplay } from '@toolyard/invocations/read-replay'
import { recordFeedback } from '@toolyard/memory/record-feedback'
import { correctLesson } from '@toolyard/relevance/correct-lesson'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import { bodyRefusals, refusals, submitRefusals } from '../../http/refusals.ts'
import { invocationAnswer } from './invocation-schema.ts'
import { prepareReplay } from './prepare-replay.ts'
import { idParam } from './read-invocations.ts'
import type { SubmitDeps } from './submit-call.ts'
import { submitCall } from './submit-call.ts'

const postCancel = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/invocations/{id}/cancel',
    tags: ['invocations'],
    ...guarded(guard, 'tools:invoke'),
    summary: 'End an invocation',
    description:
      'Scope `tools:invoke`. What waits is cancelled at once (200); what runs is ended within a second (202).',
    request: { params: idParam },
    responses: {
      200: invocationAnswer('It is cancelled'),
      202: invocationAnswer('It is being ended'),
      ...problems(...refusals, 'not_found', 'already_final'),
    },
  })

const postReplay = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/invocations/{id}/replay',
    tags: ['invocations'],
    ...guarded(guard, 'tools:invoke'),
    summary: 'Run the same input again',
    description:
      'Scope `tools:invoke`. As a new invocation, with the version that serves now or, with `{"version": "same"}`, with the one that ran.',
    request: {
      params: idParam,
      body: { required: false, content: { 'application/json': { schema: replayBody } } },
    },
    responses: {
      202: invocationAnswer('The new one'),
      ...problems(...refusals, ...bodyRefusals, ...submitRefusals, 'not_found', 'invalid_params'),
    },
  })

const postFeedback = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/invocations/{id}/feedback',
    tags: ['invocations'],
    ...guarded(guard, 'tools:invoke'),
    summary: 'Say what an outcome was worth',
    description: 'Scope `tools:invoke`. From -1 to 1, once; it takes the place of the reward.',
    request: {
      params: idParam,
      body: { required: true, content: { 'application/json': { schema: feedbackBody } } },
    },
    responses: {
      200: {
        description: 'It counts',
        content: { 'application/json': { schema: z.object({ feedback: z.number() }) } },
      },
      ...problems(...refusals, ...bodyRefusals, 'not_found', 'already_final', 'not_final', 'not_counted'),
    },
  })

export type ChangeInvocationsDeps = SubmitDeps & {
  pool: Pool
  afterCommit: AfterCommit
  within: Within
  guard: Guard
}

export function addChangeInvocationsRoutes(api: Api, deps: ChangeInvocationsDeps): void {
  const { pool, afterCommit, within, guard } = deps
  api.openapi(postCancel(guard), async (c) => {
    const { id } = c.req.valid('param')
    const { actor } = callOf(c)
    const cancelled = await cancel({ pool, afterCommit }, actor, { id, within })
    if (cancelled.kind === 'already_final')
      throw new AppError('already_final', `It has ended already: ${cancelled.status}`)
    const shape = toInvocationShape(await getInvocation(pool, actor, id))
    return cancelled.kind === 'requested' ? c.json(shape, 202) : c.json(shape, 200)
  })
  api.openapi(postReplay(guard), async (c) => {
    const { id } = c.req.valid('param')
    const { version } = c.req.valid('json') ?? { version: 'newest' }
    const given = await readReplay(pool, callOf(c).actor, { id, version })
    const { invocation } = await submitCall(deps, {
      tool: given.tool,
      prepare: (view) => prepareReplay({ view, pool }, given),
      // It has no idempotency key.
      findEarlier: async () => undefined,
    })
    c.header('location', `/invocations/${invocation.id}`)
    return c.json(toInvocationShape(invocation), 202)
  })
  api.openapi(postFeedback(guard), async (c) => {
    const { id } = c.req.valid('param')
    const { feedback } = c.req.valid('json')
    const given = await giveFeedback(pool, callOf(c).actor, {
      id,
      feedback,
      async within(sql, told) {
        await recordFeedback(sql, told)
        await correctLesson(sql, told)
      },
    })
    if (given.kind === 'given') return c.json({ feedback }, 200)
    throw given.kind === 'already_given'
      ? new AppError('already_final', `Its feedback was given already: ${given.feedback}`)
      : new AppError(given.kind, notTaken[given.kind])
  })
}

const notTaken = {
  not_final: 'It has not ended yet',
  not_counted: 'The tool had no part in how it ended, so there is nothing to weigh',
}
