import { z } from 'zod'
import { closed } from './closed.ts'
import { toolName } from './keys.ts'
import { parameters } from './parameters.ts'
import { jsonProse, line, prose } from './text.ts'
import { webhookTrigger } from './webhook-trigger.ts'

// The manifest of a tool. Parsing fills in every default, so that nobody later has to know one.
// `parseManifest` adds what one field demands of another.

// They are written into the style of a card.
const color = z
  .string()
  .max(64)
  .regex(
    /^(?:#[0-9a-fA-F]{3,8}|(?:rgb|hsl)a?\([\d\s.,%/-]+\)|[a-zA-Z]+)$/,
    'must be a CSS colour, as #5b9bd5 or rgba(91,155,213,0.08)',
  )

/** When a cron tool is due, and what becomes of each time. Manifests ask for it, operators may want it otherwise. */
export const timing = {
  schedule: line(200).min(1),
  timezone: line(64),
  overlap: z.enum(['skip', 'buffer_one', 'allow', 'cancel_other']),
  catch_up_seconds: z.int().min(0).max(31_536_000),
  jitter_seconds: z.int().min(0).max(3_600),
  /** Failures in a row after which the schedule is paused. */
  pause_after: z.int().min(1).max(1_000),
}

const cron = closed({
  type: z.literal('cron'),
  schedule: timing.schedule,
  prompt: prose(10_000).min(1),
  timezone: timing.timezone.default('UTC'),
  overlap: timing.overlap.default('skip'),
  catch_up_seconds: timing.catch_up_seconds.default(3_600),
  jitter_seconds: timing.jitter_seconds.default(0),
  pause_after: timing.pause_after.optional(),
})

export const trigger = z.discriminatedUnion('type', [
  closed({ type: z.literal('on_demand') }),
  cron,
  webhookTrigger,
])

const output = closed({
  synthesize: z.boolean().default(true),
  ephemeral: z.boolean().default(false),
  card: closed({
    enabled: z.boolean().default(false),
    title: line(200).optional(),
    accent_color: color.default('#5b9bd5'),
    background_color: color.default('rgba(91,155,213,0.08)'),
  }).prefault({}),
})

/** One setting of a tool: stored by PUT, given to the tool in `settings`. */
export const setting = closed({
  description: prose(2_000).optional(),
  secret: z.boolean().default(false),
  required: z.boolean().default(false),
  default: z.union([prose(10_000), z.number(), z.boolean()]).optional(),
  label: line(200).optional(),
  placeholder: line(200).optional(),
  hint: prose(500).optional(),
})

const settingName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'a name has letters, digits, - and _, a letter first, 64 at most')

const constraints = closed({
  timeout_seconds: z.number().min(0.1).max(900).default(9),
  cost_budget: z.number().positive().optional(),
  concurrency: z.int().min(1).max(10_000).optional(),
  retries: z.int().min(0).max(10).default(0),
  rerun: z.boolean().default(true),
})

export const sandbox = closed({
  memory: z
    .string()
    .regex(/^[1-9]\d{0,9}[kmgKMG]?$/, 'must be bytes, or a number with k, m or g, as 256m')
    .default('256m'),
  cpus: z.number().min(0.01).max(64).default(1),
  network: z.enum(['bridge', 'none', 'host']).default('bridge'),
  writable: z.boolean().default(false),
  reuse: z.int().min(1).max(100_000).default(1),
  stock: z.int().min(0).max(64).optional(),
  user: z
    .string()
    .regex(
      /^(?:\d{1,9}|[a-z_][a-z0-9_-]{0,31})(?::(?:\d{1,9}|[a-z_][a-z0-9_-]{0,31}))?$/,
      'must be a user, or user:group',
    )
    .optional(),
})

export const example = closed({
  description: prose(1_000).min(1),
  params: z.record(line(64), jsonProse).default({}),
})

export const manifest = closed({
  /** For editors. */
  $schema: line(500).optional(),
  name: toolName,
  description: prose(4_000).min(1),
  version: z
    .string()
    .regex(
      /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/,
      'must be letters, digits, ".", - and _, 128 at most, as 1.0',
    )
    .default('latest'),
  category: line(64).min(1).optional(),
  icon: line(100).optional(),
  documentation: prose(20_000).optional(),
  trigger,
  parameters,
  returns: z.record(line(64), jsonProse),
  input: z.enum(['argument', 'stdin']).default('argument'),
  output: output.prefault({}),
  config_schema: z.record(settingName, setting).default({}),
  constraints: constraints.prefault({}),
  sandbox: sandbox.prefault({}),
  notification: closed({ default_enabled: z.boolean().default(false) }).optional(),
  examples: z.array(example).max(50).default([]),
})

export type Manifest = z.infer<typeof manifest>
export type SettingSchema = z.infer<typeof setting>
