import { z } from 'zod'
import { closed } from './closed.ts'

// How a tool is called by others than the holders of keys, at POST /hooks/{tool}: what proves a message, and which of
// its headers the tool is handed.

const headersMax = 32

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be the name of a header: letters, digits, - and _')

// They prove who speaks, also where they are not read here: whoever reads params would have them.
const neverHanded = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-webhook-token'])

const handedName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be the name of a header in small letters')
  .refine((name) => !neverHanded.has(name), 'is not handed to tools: it may hold what proves who speaks')

/** The headers that are handed to the tool, as far as they were sent. */
const handed = (...names: string[]) => z.array(handedName).max(headersMax).default(names)

/**
 * How a sender signs that is none of the known ones. SHA-1 is taken, for senders that have nothing else: what broke it
 * are collisions, and an HMAC does not rest on their absence.
 */
export const hmacOptions = closed({
  /** Where the signature is. */
  header: headerName,
  algorithm: z.enum(['sha1', 'sha256', 'sha384', 'sha512']).default('sha256'),
  encoding: z.enum(['hex', 'base64']).default('hex'),
  /** What stands before the signature, as "sha256=". */
  prefix: z
    .string()
    .max(32)
    .regex(/^[\x20-\x7e]*$/, 'must be plain characters')
    .default(''),
  signed: z.enum(['body', 'timestamp.body', 'v0:timestamp:body']).default('body'),
  timestamp_header: headerName.optional(),
  timestamp_unit: z.enum(['seconds', 'milliseconds']).default('seconds'),
  tolerance_seconds: z.int().min(1).max(3_600).default(300),
  /** Where the sender names the event. It is not signed. */
  event_id_header: headerName.optional(),
}).refine(({ signed, timestamp_header }) => (signed === 'body') === (timestamp_header === undefined), {
  path: ['signed'],
  message:
    'must have the timestamp if there is a "timestamp_header", and only then: a time that is not signed proves nothing',
})

const type = z.literal('webhook')
const headers = handed('content-type')

export const webhookTrigger = z.discriminatedUnion('auth', [
  closed({ type, auth: z.literal('token'), headers }),
  closed({ type, auth: z.literal('standard'), headers }),
  closed({ type, auth: z.literal('github'), headers: handed('content-type', 'x-github-event') }),
  closed({ type, auth: z.literal('stripe'), headers }),
  closed({ type, auth: z.literal('hmac'), headers, hmac: hmacOptions }),
])

/**
 * The settings of a webhook tool that its senders prove themselves with, the newer first. The one before counts as
 * well, for as long as it is stored: so a sender can be moved from the one to the other.
 */
export const hookSecretNames = ['webhook_secret', 'webhook_secret_previous'] as const

/** What the tool itself is given of its settings: a tool that could read what proves its senders could speak as one. */
export function settingsToHand<T>(trigger: { type: string }, settings: Readonly<Record<string, T>>) {
  if (trigger.type !== 'webhook') return { ...settings }
  const kept: readonly string[] = hookSecretNames
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !kept.includes(name)))
}

export type HmacOptions = z.infer<typeof hmacOptions>
export type WebhookTrigger = z.infer<typeof webhookTrigger>
