import { z } from 'zod'
import { closed } from './closed.ts'
import { jsonProse, prose } from './text.ts'

// How a tool declares what it wants to be given. `coerceParams` holds callers to it.

export const parameterTypes = ['string', 'integer', 'float', 'number', 'boolean', 'array', 'object'] as const

// Those beginning with an underscore belong to the platform.
const parameterName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'a name has letters, digits, - and _, a letter first, 64 at most')

const value = {
  type: z.enum(parameterTypes),
  description: prose(2_000).optional(),
  enum: z.array(jsonProse).min(1).max(500).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  pattern: z.string().min(1).max(1_000).optional(),
}

const item = closed(value)

export const parameter = closed({
  ...value,
  required: z.boolean().default(false),
  // Null says that there is none, as in manifests that write every key.
  default: jsonProse.optional(),
  items: item.optional(),
})

export const parameters = z.record(parameterName, parameter)

export type ParameterItem = z.infer<typeof item>
export type Parameter = z.infer<typeof parameter>
export type Parameters = z.infer<typeof parameters>
export type Json = z.infer<typeof jsonProse>
