import { z } from '@hono/zod-openapi'
import type { DescribedTool, FunctionFormat } from '@toolyard/contract/function-schemas'
import { functionFormats, toFunction } from '@toolyard/contract/function-schemas'

export const formatQuery = z.strictObject({
  format: z
    .enum(functionFormats)
    .optional()
    .meta({ description: 'as function schemas of this kind, ready to be handed to a model' }),
})

const jsonSchema = z.record(z.string(), z.unknown())
const openAiFunction = z.object({
  type: z.literal('function'),
  function: z.object({ name: z.string(), description: z.string(), parameters: jsonSchema }),
})
const anthropicTool = z.object({ name: z.string(), description: z.string(), input_schema: jsonSchema })
const mcpTool = z.object({ name: z.string(), description: z.string(), inputSchema: jsonSchema })

export const functionList = z
  .object({ tools: z.array(z.union([openAiFunction, anthropicTool, mcpTool])), count: z.int() })
  .meta({ id: 'FunctionList' })

export function toFunctionList(tools: readonly DescribedTool[], format: FunctionFormat) {
  const functions = tools.map((each) => toFunction[format](each))
  return { tools: functions, count: functions.length }
}
