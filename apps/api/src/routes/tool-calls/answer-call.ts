import { z } from '@hono/zod-openapi'
import type { Invocation } from '@toolyard/invocations/invocation'
import type { ToldOfEnd } from '../invocations/told-of-end.ts'
import type { ReadCall } from './read-call.ts'

const functionResult = z.object({
  tool_call_id: z.string(),
  output: z.string().meta({ description: 'what the model is to read; of a failure too' }),
  success: z.boolean(),
  error: z.string().optional(),
  invocation_id: z.string().optional(),
})

const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.string(),
  is_error: z.boolean(),
})

export const callAnswer = z.union([toolResult, functionResult]).meta({ id: 'ToolCallResult' })

export type CallAnswer = z.infer<typeof callAnswer>

/** In the form in which it was called. One of them takes no member that it does not know. */
export function answerCall({ id, style }: ReadCall, told: ToldOfEnd, one?: Invocation): CallAnswer {
  if (style === 'anthropic')
    return { type: 'tool_result', tool_use_id: id, content: told.output, is_error: !told.success }
  return { tool_call_id: id, ...told, ...(one === undefined ? {} : { invocation_id: one.id }) }
}
