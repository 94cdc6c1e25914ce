import { z } from 'zod'
import { budgetShape, overallMemoryShape } from './memory.ts'
import { parameterTypes } from './parameters.ts'
import { isStorable } from './storable.ts'

// What the routes about tools answer and take. The words of the configuration's routes are in `config-messages`.

const declared = {
  type: z.enum(parameterTypes),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().optional(),
}

export const listedParameter = z.object({
  ...declared,
  required: z.boolean(),
  default: z.unknown().optional(),
  items: z.object(declared).optional(),
})

export const listedTrigger = z.object({
  type: z.enum(['on_demand', 'cron', 'webhook']),
  schedule: z.string().optional(),
  timezone: z.string().optional(),
  auth: z.string().optional(),
})

const scalar = z.union([z.string(), z.number(), z.boolean()])

const settingShape = z.object({
  description: z.string().optional(),
  secret: z.boolean(),
  required: z.boolean(),
  default: scalar.optional(),
  label: z.string().optional(),
  placeholder: z.string().optional(),
  hint: z.string().optional(),
})

const configSchemaShape = z.record(z.string(), settingShape)

export const toolStatuses = ['system', 'available', 'connected'] as const

const imageShape = z.object({
  state: z.enum(['ready', 'building', 'error']),
  /** Of the folder as it is now; null where there is no manifest to build from. */
  hash: z.string().nullable(),
  error: z.string().nullable(),
})

/**
 * A tool in the list. One whose manifest has faults has the same members, so that whoever loops over the list meets
 * it: `name` is its folder's name, `enabled` false, `image` `{state: 'error', hash: null, error: <the faults>}`,
 * `trigger` on demand, and the rest empty.
 */
export const toolShape = z.object({
  name: z.string(),
  description: z.string(),
  version: z.string(),
  category: z.string().nullable(),
  icon: z.string().nullable(),
  documentation: z.string().optional(),
  trigger: listedTrigger,
  status: z.enum(toolStatuses),
  enabled: z.boolean(),
  image: imageShape,
  /** What answers calls while the folder as it is now is building or broken. */
  serving: z.object({ version: z.string(), hash: z.string() }).optional(),
  parameters: z.record(z.string(), listedParameter),
  config_schema: configSchemaShape,
  returns: z.record(z.string(), z.unknown()).optional(),
  examples: z
    .array(z.object({ description: z.string(), params: z.record(z.string(), z.unknown()) }))
    .optional(),
  sandbox: z
    .object({
      memory: z.string(),
      cpus: z.number(),
      network: z.enum(['bridge', 'none', 'host']),
      /** Whether the root file system is: where the operator does not allow it, false whatever the manifest says. */
      writable: z.boolean(),
      reuse: z.int(),
    })
    .optional(),
  warnings: z.array(z.string()),
  budget: budgetShape.optional(),
  /** What its outcomes have taught. */
  memory: overallMemoryShape.optional(),
})

export const toolListShape = z.object({
  tools: z.array(toolShape),
  count: z.int(),
})

export const toolConfigShape = z.object({
  tool_name: z.string(),
  config_schema: configSchemaShape,
  /** Secrets are `***`. */
  config: z.record(z.string(), scalar),
})

const settingValue = z.union(
  [
    z.string().max(16_384).refine(isStorable, 'must hold neither U+0000 nor half of a surrogate pair'),
    z.number(),
    z.boolean(),
  ],
  {
    error: 'must be a text, a number, or true or false; DELETE removes a key',
  },
)

/** Which keys there are is known to the vault alone, so a name is bounded here and judged there. */
export const configBody = z.preprocess(
  (value, context) => {
    // A record leaves this name out without a word.
    if (typeof value === 'object' && value !== null && Object.hasOwn(value, '__proto__')) {
      context.addIssue({ code: 'custom', path: ['__proto__'], message: 'cannot be used as a name' })
    }
    return value
  },
  z
    .record(z.string().max(200), settingValue)
    .refine((body) => Object.keys(body).length > 0, 'must name at least one setting')
    .refine((body) => Object.keys(body).length <= 100, 'must have at most 100 settings'),
)

export const configSavedShape = z.object({
  saved: z.literal(true),
  tool_name: z.string(),
  keys: z.array(z.string()),
})

export const configDeletedShape = z.object({ deleted: z.boolean(), tool_name: z.string(), key: z.string() })

export const toolTestShape = z.object({ ok: z.boolean(), message: z.string() })

export const toolsEnabledShape = z.strictObject({ enabled: z.boolean() })

export type ToolShape = z.infer<typeof toolShape>
export type ToolStatus = ToolShape['status']
export type ToolList = z.infer<typeof toolListShape>
export type ToolConfig = z.infer<typeof toolConfigShape>
