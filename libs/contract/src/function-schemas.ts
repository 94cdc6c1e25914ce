import type { Json, Parameter, ParameterItem, Parameters } from './parameters.ts'

// Tools as models are told of them. Parameters become JSON Schema of the kind that all providers read: an object at the
// root, no references, no unions. What a caller sends is judged by `coerceParams` all the same.

export const functionFormats = ['openai', 'anthropic', 'mcp'] as const
export type FunctionFormat = (typeof functionFormats)[number]

export type JsonSchema = { [keyword: string]: Json }

export type ObjectSchema = {
  type: 'object'
  properties: Record<string, JsonSchema>
  required: string[]
  additionalProperties: false
}

/** What is told of a tool; `Manifest` is one. */
export type DescribedTool = { name: string; description: string; parameters: Parameters }

export type OpenAiFunction = {
  type: 'function'
  function: { name: string; description: string; parameters: ObjectSchema }
}
export type AnthropicTool = { name: string; description: string; input_schema: ObjectSchema }
export type McpTool = { name: string; description: string; inputSchema: ObjectSchema }

/** The strictest of the providers' rules for the name of a function. Every name of a tool is within it. */
export const functionName = /^[a-zA-Z0-9_-]{1,64}$/

// One provider refuses a function whose description is longer.
const openAiDescriptionMax = 1_024

export const toOpenAiFunction = ({ name, description, parameters }: DescribedTool): OpenAiFunction => ({
  type: 'function',
  function: {
    name,
    description: cut(description, openAiDescriptionMax),
    parameters: toObjectSchema(parameters),
  },
})

export const toAnthropicTool = ({ name, description, parameters }: DescribedTool): AnthropicTool => ({
  name,
  description,
  input_schema: toObjectSchema(parameters),
})

export const toMcpTool = ({ name, description, parameters }: DescribedTool): McpTool => ({
  name,
  description,
  inputSchema: toObjectSchema(parameters),
})

export const toFunction = {
  openai: toOpenAiFunction,
  anthropic: toAnthropicTool,
  mcp: toMcpTool,
} satisfies Record<FunctionFormat, (tool: DescribedTool) => unknown>

export function toObjectSchema(parameters: Parameters): ObjectSchema {
  const declared = Object.entries(parameters)
  return {
    type: 'object',
    properties: Object.fromEntries(declared.map(([name, each]) => [name, toParameterSchema(each)])),
    // What is filled in where nothing is given need not be given.
    required: declared.filter(([, each]) => each.required && !hasDefault(each)).map(([name]) => name),
    additionalProperties: false,
  }
}

function toParameterSchema(declared: Parameter): JsonSchema {
  const schema = toValueSchema(declared)
  if (declared.items !== undefined) schema['items'] = toValueSchema(declared.items)
  if (declared.default !== undefined && declared.default !== null) schema['default'] = declared.default
  return schema
}

function toValueSchema(declared: ParameterItem): JsonSchema {
  const { type, enum: allowed, minimum, maximum, pattern } = declared
  const description = describe(declared)
  return {
    type: type === 'float' ? 'number' : type,
    // A list without a word on its items is refused by one provider, wherever it stands.
    ...(type === 'array' ? { items: {} } : {}),
    ...(description === undefined ? {} : { description }),
    ...(allowed === undefined ? {} : { enum: [...allowed] }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
    ...(pattern === undefined || !isCommonPattern(pattern) ? {} : { pattern }),
  }
}

/** A pattern that JSON Schema cannot hold is told in words. */
function describe({ description, pattern }: ParameterItem): string | undefined {
  if (pattern === undefined || isCommonPattern(pattern)) return description
  return [description, `Matches the RE2 pattern ${pattern}`].filter((part) => part !== undefined).join(' ')
}

/** Whether a pattern of RE2 is one of ECMAScript too, which is what JSON Schema has. */
function isCommonPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode
  } catch {
    return false
  }
}

const hasDefault = ({ default: value }: Parameter) => value !== undefined && value !== null

function cut(text: string, max: number): string {
  if (text.length <= max) return text
  // Half of a surrogate pair is no text.
  return `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
