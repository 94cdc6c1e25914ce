import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { manifestSchema } from './manifest-schema.ts'

const path = 'tools/manifest.schema.json'

test('the published schema is the one that manifests are held to (npm run manifest-schema writes it)', () => {
  assert.equal(readFileSync(join(import.meta.dirname, '../../..', path), 'utf8'), manifestSchema())
})

test('it refuses what is not known, but what an author adds', () => {
  const schema: unknown = JSON.parse(manifestSchema())
  assert.partialDeepStrictEqual(schema, {
    required: ['name', 'description', 'trigger', 'parameters', 'returns'],
    additionalProperties: false,
    patternProperties: { '^x-': {} },
    properties: { sandbox: { additionalProperties: false, properties: { reuse: { default: 1 } } } },
  })
})
