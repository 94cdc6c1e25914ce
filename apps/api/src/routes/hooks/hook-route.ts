import type { OpenAPIHono } from '@hono/zod-openapi'
import { createRoute, z } from '@hono/zod-openapi'
import type { ApiEnv } from '../../http/api-env.ts'
import { problems } from '../../http/problem.ts'
import { submitRefusals } from '../../http/refusals.ts'
import { acceptedHook, endedHook } from './hook-answer.ts'

// No key is asked for here: each message proves itself, in the way that the tool's manifest names.
const inHeader = (name: string, description: string) =>
  ({ type: 'apiKey', in: 'header', name, description }) as const

const ways = {
  hook_bearer: { type: 'http', scheme: 'bearer', description: '`token`: the secret itself' },
  hook_token: inHeader('X-Webhook-Token', '`token`: the secret itself'),
  hook_standard: inHeader(
    'webhook-signature',
    '`standard`: Standard Webhooks 1.0.0, with `webhook-id` and `webhook-timestamp`; also with the `svix-` headers',
  ),
  hook_github: inHeader('X-Hub-Signature-256', '`github`: as GitHub signs, with `X-GitHub-Delivery`'),
  hook_stripe: inHeader('Stripe-Signature', '`stripe`: as Stripe signs'),
  hook_hmac: inHeader('X-Signature', '`hmac`: an HMAC of the body, in the header that the manifest names'),
} as const

export function describeHookSecurity({ openAPIRegistry }: OpenAPIHono<ApiEnv>): void {
  for (const [name, way] of Object.entries(ways)) {
    openAPIRegistry.registerComponent('securitySchemes', name, way)
  }
}

const json = <T extends z.ZodType>(description: string, schema: T) => ({
  description,
  content: { 'application/json': { schema } },
})

export const postHook = createRoute({
  method: 'post',
  path: '/hooks/{tool}',
  tags: ['webhooks'],
  security: Object.keys(ways).map((way) => ({ [way]: [] })),
  summary: 'Tell a webhook tool of an event',
  description:
    'For senders outside, without a key: one of these proofs, the one that `trigger.auth` of the tool names, made with its setting `webhook_secret`, or `webhook_secret_previous`. Whatever is not proven is answered 401, also where there is no such tool. The body, 512 KiB at most, comes to the tool as `params._webhook`. The same event sent again within 24 hours is the same invocation. With `Prefer: wait=N` (60 at most) it waits that long for the end.',
  request: {
    params: z.object({ tool: z.string().meta({ param: { name: 'tool', in: 'path' } }) }),
    headers: z.object({ prefer: z.string().optional() }),
    body: {
      required: false,
      description: 'Of any type. JSON is parsed; what is no UTF-8 comes to the tool as base64',
      content: { '*/*': { schema: z.any() } },
    },
  },
  responses: {
    200: json('It has ended', endedHook),
    202: json('It is accepted', acceptedHook),
    ...problems(
      'malformed_request',
      'unauthenticated',
      'payload_too_large',
      'rate_limited',
      'secrets_unavailable',
      'store_unavailable',
      ...submitRefusals,
    ),
  },
})
