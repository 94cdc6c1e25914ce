import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { coerceParams } from './coerce-params.ts'
import {
  functionFormats,
  functionName,
  toAnthropicTool,
  toFunction,
  toMcpTool,
  toObjectSchema,
  toOpenAiFunction,
} from './function-schemas.ts'
import { toolName } from './keys.ts'
import { parameters } from './parameters.ts'

const declared = parameters.parse({
  place: { type: 'string', description: 'Where', required: true, pattern: '^[A-Z][a-z]+$' },
  days: { type: 'integer', minimum: 1, maximum: 14, default: 3, required: true },
  unit: { type: 'string', enum: ['c', 'f'], default: null },
  ratio: { type: 'float', minimum: 0 },
  exact: { type: 'boolean', default: false },
  tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
  anything: { type: 'array' },
  more: { type: 'object' },
  amount: { type: 'number' },
})

test('parameters become a schema whose root is an object', () => {
  assert.deepEqual(toObjectSchema(declared), {
    type: 'object',
    properties: {
      place: { type: 'string', description: 'Where', pattern: '^[A-Z][a-z]+$' },
      days: { type: 'integer', minimum: 1, maximum: 14, default: 3 },
      unit: { type: 'string', enum: ['c', 'f'] },
      ratio: { type: 'number', minimum: 0 },
      exact: { type: 'boolean', default: false },
      tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } },
      anything: { type: 'array', items: {} },
      more: { type: 'object' },
      amount: { type: 'number' },
    },
    required: ['place'],
    additionalProperties: false,
  })
  assert.deepEqual(toObjectSchema({}), {
    type: 'object',
    properties: {},
    required: [],
    additionalProperties: false,
  })
})

test('what the schema takes the tool takes, and what it refuses the tool refuses', () => {
  const validate = new Ajv2020({ strict: true }).compile(toObjectSchema(declared))
  const cases: [Record<string, unknown>, boolean][] = [
    [{ place: 'Valletta' }, true],
    [{ place: 'Valletta', days: 14, unit: 'f', ratio: 0.5, exact: true, tags: ['b'] }, true],
    [{ place: 'Valletta', anything: [1, 'x', null, {}], more: { deep: { deeper: 1 } }, amount: 1e9 }, true],
    [{}, false],
    [{ place: 'valletta' }, false],
    [{ place: 'Valletta', days: 15 }, false],
    [{ place: 'Valletta', days: 1.5 }, false],
    [{ place: 'Valletta', unit: 'k' }, false],
    [{ place: 'Valletta', ratio: -1 }, false],
    [{ place: 'Valletta', tags: ['c'] }, false],
    [{ place: 'Valletta', more: [] }, false],
    [{ place: 'Valletta', unknown: 1 }, false],
  ]
  for (const [params, fits] of cases) {
    assert.equal(validate(params), fits, JSON.stringify(params))
    assert.equal('params' in coerceParams(declared, params), fits, JSON.stringify(params))
  }
})

test('each provider is told of a tool in its own form', () => {
  const tool = { name: 'weather-now_2', description: 'The weather', parameters: declared }
  const schema = toObjectSchema(declared)
  assert.deepEqual(toOpenAiFunction(tool), {
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: schema },
  })
  assert.deepEqual(toAnthropicTool(tool), {
    name: tool.name,
    description: tool.description,
    input_schema: schema,
  })
  assert.deepEqual(toMcpTool(tool), {
    name: tool.name,
    description: tool.description,
    inputSchema: schema,
  })
  assert.deepEqual(Object.keys(toFunction), [...functionFormats])
})

// As the providers publish them, and as their answers to what breaks them say. Of JSON Schema only what all of them read:
// one refuses compositions at the root, another a list without a word on its items.
const schemaRules = {
  type: 'object',
  required: ['type', 'properties'],
  additionalProperties: false,
  properties: {
    type: { const: 'object' },
    properties: {
      type: 'object',
      propertyNames: { pattern: '^[a-zA-Z0-9_.-]{1,64}$' },
      additionalProperties: { $ref: '#/$defs/value' },
    },
    required: { type: 'array', items: { type: 'string' }, uniqueItems: true },
    additionalProperties: { const: false },
  },
}
const $defs = {
  value: {
    type: 'object',
    additionalProperties: false,
    properties: {
      type: { enum: ['string', 'integer', 'number', 'boolean', 'array', 'object'] },
      description: { type: 'string' },
      enum: { type: 'array', minItems: 1 },
      minimum: { type: 'number' },
      maximum: { type: 'number' },
      pattern: { type: 'string', format: 'regex' },
      default: { not: { type: 'null' } },
      items: { $ref: '#/$defs/value' },
    },
    anyOf: [
      { not: { properties: { type: { const: 'array' } }, required: ['type'] } },
      { required: ['items'] },
    ],
  },
}
const nameRule = { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$' }
const rules = {
  openai: {
    type: 'object',
    required: ['type', 'function'],
    additionalProperties: false,
    properties: {
      type: { const: 'function' },
      function: {
        type: 'object',
        required: ['name'],
        // Without `strict`: that mode knows no defaults, and wants every property required.
        additionalProperties: false,
        properties: {
          name: nameRule,
          description: { type: 'string', maxLength: 1_024 },
          parameters: schemaRules,
        },
      },
    },
  },
  anthropic: {
    type: 'object',
    required: ['name', 'input_schema'],
    additionalProperties: false,
    properties: { name: nameRule, description: { type: 'string' }, input_schema: schemaRules },
  },
  mcp: {
    type: 'object',
    required: ['name', 'inputSchema'],
    properties: {
      name: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,128}$' },
      description: { type: 'string' },
      inputSchema: schemaRules,
    },
  },
}

const isPattern = (text: string) => new RegExp(text, 'u').unicode

test('what each provider is told keeps to its published rules, whatever a manifest declares', () => {
  const hard = parameters.parse({
    nested: { type: 'array', items: { type: 'array' } },
    bare: { type: 'array' },
    ['p'.repeat(64)]: { type: 'object', description: 'd'.repeat(2_000) },
    'with-dash_1': { type: 'string', enum: ['a'], pattern: '(?i)a' },
  })
  const tools = [
    { name: 'a'.repeat(64), description: 'x'.repeat(4_000), parameters: { ...declared, ...hard } },
    { name: 'a-_9', description: 'none', parameters: {} },
  ]
  for (const format of functionFormats) {
    const formats = { regex: isPattern }
    const validate = new Ajv2020({ strict: false, formats }).compile({ ...rules[format], $defs })
    for (const tool of tools) assert.ok(validate(toFunction[format](tool)), JSON.stringify(validate.errors))
    assert.equal(validate(toFunction[format]({ name: 'a b', description: '', parameters: {} })), false)
  }
  assert.deepEqual(toObjectSchema(hard).properties['nested'], {
    type: 'array',
    items: { type: 'array', items: {} },
  })
})

test('every name that a tool may have is a name of a function', () => {
  for (const name of ['a', 'a'.repeat(64), 'a-_9', 'z0']) {
    assert.ok(toolName.safeParse(name).success)
    assert.match(name, functionName)
  }
  for (const name of ['', 'a'.repeat(65), 'a.b', 'a b', 'é']) {
    assert.equal(toolName.safeParse(name).success, false)
    assert.doesNotMatch(name, functionName)
  }
})

test('a pattern that only RE2 reads is told in words, and the schema stays one that compiles', () => {
  const schema = toObjectSchema(
    parameters.parse({
      code: { type: 'string', description: 'The code.', pattern: '(?i)^ab$' },
      name: { type: 'string', pattern: String.raw`\A\pL+\z` },
    }),
  )
  assert.deepEqual(schema.properties, {
    code: { type: 'string', description: 'The code. Matches the RE2 pattern (?i)^ab$' },
    name: { type: 'string', description: String.raw`Matches the RE2 pattern \A\pL+\z` },
  })
  assert.ok(new Ajv2020({ strict: true }).compile(schema)({ code: 'AB', name: 'é' }))
})

test('a description is cut where one provider would refuse it, and never within a character', () => {
  const long = { name: 'a', description: `${'x'.repeat(1_022)}😀 and more`, parameters: {} }
  const { description } = toOpenAiFunction(long).function
  assert.equal(description, `${'x'.repeat(1_022)}…`)
  assert.ok(description.isWellFormed())
  assert.equal(toAnthropicTool(long).description, long.description)
  const fitting = { ...long, description: 'x'.repeat(1_024) }
  assert.equal(toOpenAiFunction(fitting).function.description, fitting.description)
})
