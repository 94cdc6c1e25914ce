import { createRoute, z } from '@hono/zod-openapi'
import type { Catalog } from '@toolyard/catalog/create-catalog'
import { coerceParams } from '@toolyard/contract/coerce-params'
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
import type { Submission } from '@toolyard/invocations/submission'
import type { Submitter } from '@toolyard/invocations/submitter'
import { recordFeedback } from '@toolyard/memory/record-feedback'
import { correctLesson } from '@toolyard/relevance/correct-lesson'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { problems } from '../../http/problem.ts'
import { bodyRefusals, refusals, submitRefusals } from '../tools/route-parts.ts'
import { invocationAnswer } from './invocation-schema.ts'
import { idParam } from './read-invocations.ts'
import { refuseUnconfigured, toRefusal } from './refuse-submission.ts'

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
      ...problems(...refusals, ...bodyRefusals, 'not_found', 'already_final', 'not_final'),
    },
  })

export type ChangeInvocationsDeps = {
  pool: Pool
  catalog: Catalog
  submitter: Submitter
  afterCommit: AfterCommit
  within: Within
  guard: Guard
}

export function addChangeInvocationsRoutes(api: Api, deps: ChangeInvocationsDeps): void {
  const { pool, catalog, submitter, afterCommit, within, guard } = deps
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
    const submission = await renew({ catalog, pool }, given, version)
    const submitted = await submitter.submit(submission)
    if (submitted.kind === 'refused') throw toRefusal(submitted, submission.tool)
    c.header('location', `/invocations/${submitted.invocation.id}`)
    return c.json(toInvocationShape(submitted.invocation), 202)
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
      : new AppError('not_final', notCounted[given.kind])
  })
}

const notCounted = {
  not_final: 'It has not ended yet',
  not_counted: 'The tool had no part in how it ended, so there is nothing to weigh',
}

/** The settings and the manifest may have changed since the params were taken. */
async function renew(
  { catalog, pool }: Pick<ChangeInvocationsDeps, 'catalog' | 'pool'>,
  submission: Submission,
  version: 'same' | 'newest',
): Promise<Submission> {
  const { tool, params } = submission
  const manifest = (await catalog.view()).byName.get(tool)?.manifest
  if (manifest === undefined) return submission
  await refuseUnconfigured(pool, tool, manifest)
  if (version === 'same') return submission
  // What the platform added is no caller's, and stays as it is.
  const isPlatforms = ([name]: [string, unknown]) => name.startsWith('_')
  const added = Object.fromEntries(Object.entries(params).filter(isPlatforms))
  const given = Object.fromEntries(Object.entries(params).filter((entry) => !isPlatforms(entry)))
  const coerced = coerceParams(manifest.parameters, given)
  if ('params' in coerced) return { ...submission, params: { ...coerced.params, ...added } }
  throw new AppError('invalid_params', 'The tool has changed, and the params do not fit it any more', {
    faults: coerced.faults,
  })
}
