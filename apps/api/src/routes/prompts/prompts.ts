import { createRoute, z } from '@hono/zod-openapi'
import { AppError } from '@toolyard/contract/errors'
import { toolName } from '@toolyard/contract/keys'
import {
  ackPromptBody,
  ackedPromptShape,
  claimPromptsBody,
  claimedPromptShape,
  promptShape,
  promptStatuses,
} from '@toolyard/contract/prompts'
import type { Pool } from '@toolyard/db/pool'
import { ackPrompt } from '@toolyard/schedules/ack-prompt'
import { claimPrompts } from '@toolyard/schedules/claim-prompts'
import { listPrompts } from '@toolyard/schedules/list-prompts'
import type { Api } from '../../create-api.ts'
import type { Guard } from '../../http/authenticate.ts'
import { guarded } from '../../http/authenticate.ts'
import { callOf } from '../../http/call-of.ts'
import { pageQuery } from '../../http/page-query.ts'
import { problems } from '../../http/problem.ts'
import { jsonAnswer } from '../../http/json-answer.ts'
import { bodyRefusals, refusals } from '../../http/refusals.ts'

const prompt = promptShape.meta({ id: 'Prompt' })
const claimed = z.object({ prompts: z.array(claimedPromptShape.meta({ id: 'ClaimedPrompt' })) })
const page = z
  .object({ prompts: z.array(prompt), next_cursor: z.string().nullable() })
  .meta({ id: 'PromptPage' })

const idParam = z.object({
  id: z
    .string()
    .max(100)
    .meta({ param: { name: 'id', in: 'path' } }),
})

const getPrompts = (guard: Guard) =>
  createRoute({
    method: 'get',
    path: '/prompts',
    tags: ['prompts'],
    ...guarded(guard, 'prompts:consume'),
    summary: 'List the prompts, newest first',
    description:
      'Scope `prompts:consume`. What runs of cron tools left for the agent. To work through them, claim them.',
    request: {
      query: pageQuery.extend({ tool: toolName.optional(), status: z.enum(promptStatuses).optional() }),
    },
    responses: { ...jsonAnswer('One page', page), ...problems(...refusals, 'invalid_request') },
  })

const postClaim = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/prompts/claim',
    tags: ['prompts'],
    ...guarded(guard, 'prompts:consume'),
    summary: 'Take prompts to work through',
    description:
      'Scope `prompts:consume`. The most important first, then the oldest; nobody else gets them for `lease_seconds`. What is not acknowledged by then waits again. The list is empty when none waits.',
    request: {
      body: { required: false, content: { 'application/json': { schema: claimPromptsBody } } },
    },
    responses: { ...jsonAnswer('The prompts', claimed), ...problems(...refusals, ...bodyRefusals) },
  })

const postAck = (guard: Guard) =>
  createRoute({
    method: 'post',
    path: '/prompts/{id}/ack',
    tags: ['prompts'],
    ...guarded(guard, 'prompts:consume'),
    summary: 'Say that a claimed prompt was worked through',
    description:
      'Scope `prompts:consume`. Nobody gets it again. `claim` is what the claim answered; without it the last claim of the same key counts. Saying it twice changes nothing.',
    request: {
      params: idParam,
      body: { required: false, content: { 'application/json': { schema: ackPromptBody } } },
    },
    responses: {
      ...jsonAnswer('It is acknowledged', ackedPromptShape),
      ...problems(...refusals, ...bodyRefusals, 'not_found', 'not_claimed'),
    },
  })

export function addPromptRoutes(api: Api, { pool, guard }: { pool: Pool; guard: Guard }): void {
  api.openapi(getPrompts(guard), async (c) => {
    const { prompts, nextCursor } = await listPrompts(pool, callOf(c).actor, c.req.valid('query'))
    return c.json({ prompts, next_cursor: nextCursor }, 200)
  })
  api.openapi(postClaim(guard), async (c) => {
    const { tool, limit, lease_seconds: leaseSeconds } = c.req.valid('json') ?? claimPromptsBody.parse({})
    const prompts = await claimPrompts(pool, callOf(c).actor, { tool, limit, leaseSeconds })
    return c.json({ prompts }, 200)
  })
  api.openapi(postAck(guard), async (c) => {
    const { id } = c.req.valid('param')
    const { claim } = c.req.valid('json') ?? {}
    const acked = await ackPrompt(pool, callOf(c).actor, { id, claim })
    if (acked.kind === 'not_held')
      throw new AppError('not_claimed', 'It is not claimed, or somebody else has it by now: claim it again')
    return c.json({ id, already: acked.kind === 'already_acked' }, 200)
  })
}
