import { z } from 'zod'
import { scopes } from './scopes.ts'
import { unprintable } from './unprintable.ts'

export const printable = z
  .string()
  .regex(new RegExp(`^[^${unprintable}]*$`, 'u'), 'control characters are not allowed')

/** Topics that nobody can name: of a key's calls that name none, of messages that come in for a tool, of its ticks. */
export const isPlatformTopic = (topic: string) => /^(?:key|hook|cron):/.test(topic)

export const topicName = printable
  .min(1)
  .max(200)
  .refine(
    (topic) => !isPlatformTopic(topic),
    'topics beginning "key:", "hook:" or "cron:" belong to the platform',
  )

const toolNamePattern = /^[a-z][a-z0-9_-]{0,63}$/

/** Other text is never sent to the database, which could not even hold some of it. */
export const isToolName = (text: string): boolean => toolNamePattern.test(text)

export const toolName = z
  .string()
  .regex(toolNamePattern, 'lower-case letters, digits, - and _, a letter first')

export const newKeyBody = z.strictObject({
  name: printable.trim().min(1).max(100).meta({ description: 'for people' }),
  scopes: z.array(z.enum(scopes)).min(1).max(100).meta({ description: 'what it may do' }),
  topics: z
    .array(topicName)
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'bound to these: it calls and sees nothing of others; without them, not bound' }),
  tools: z
    .array(toolName)
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: 'bound to these: all others do not exist for it; without them, not bound' }),
  expires_at: z.iso.datetime({ offset: true }).optional().meta({ description: 'never when not given' }),
})

export const keyShape = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(scopes)),
  topics: z.array(z.string()).nullable().meta({ description: 'null: not bound' }),
  tools: z.array(z.string()).nullable().meta({ description: 'null: not bound' }),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  revoked_at: z.iso.datetime().nullable(),
})

export const newKeyShape = keyShape.extend({
  key: z.string().meta({ description: 'the key itself, shown this once' }),
})

export const auditEntryShape = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  actor: z.string().meta({
    description:
      'key:<id>, operator for the one at the machine, beyond for a key that the asking one may not see',
  }),
  actor_name: z.string(),
  action: z.string(),
  target: z.string(),
  detail: z.record(z.string(), z.unknown()),
  request_id: z.string().nullable().meta({ description: 'null: it came by no request' }),
})

export type NewKeyBody = z.infer<typeof newKeyBody>
export type KeyShape = z.infer<typeof keyShape>
export type AuditEntryShape = z.infer<typeof auditEntryShape>
