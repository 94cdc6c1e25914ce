import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { describeIssue } from './describe-issue.ts'

function faultOf(schema: z.ZodType, value: unknown): string {
  const issues = schema.safeParse(value, { error: describeIssue }).error?.issues ?? []
  return issues.map(({ message }) => message).join('; ')
}

test('what is missing is called required, whatever it must be', () => {
  for (const schema of [
    z.string(),
    z.enum(['a', 'b']),
    z.union([z.string(), z.number()]),
    z.record(z.string(), z.int()),
    z.iso.datetime(),
  ])
    assert.equal(faultOf(schema, undefined), 'is required')
})

test('a bound is told with its unit, and whether it may be reached', () => {
  assert.equal(faultOf(z.string().min(2), 'x'), 'must have at least 2 characters')
  assert.equal(faultOf(z.array(z.int()).max(1), [1, 2]), 'must have at most 1 items')
  assert.equal(faultOf(z.set(z.int()).min(1), new Set()), 'must have at least 1 items')
  assert.equal(faultOf(z.number().min(0), -1), 'must be at least 0')
  assert.equal(faultOf(z.number().gt(0), 0), 'must be more than 0')
  assert.equal(faultOf(z.number().lt(1), 1), 'must be less than 1')
  assert.equal(faultOf(z.number().multipleOf(5), 7), 'must be a multiple of 5')
})

test('a value of several types is told which, and one of several forms that it has none', () => {
  const scalar = z.union([z.string().max(3), z.number(), z.boolean()])
  assert.equal(faultOf(scalar, []), 'must be a text, a number, or true or false')
  assert.equal(faultOf(scalar, 'long'), 'must have at most 3 characters')
  const forms = z.union([z.object({ a: z.int() }), z.object({ b: z.int() })])
  assert.equal(faultOf(forms, {}), 'fits none of the forms that are allowed here')
})

test('a form is shown by an example where its name says nothing', () => {
  assert.equal(
    faultOf(z.iso.datetime({ offset: true }), 'tomorrow'),
    'must be a date and time with its zone, as in 2031-05-17T08:00:00Z',
  )
  assert.equal(faultOf(z.url(), 'here'), 'must be a URL')
  assert.equal(faultOf(z.ipv4(), 'here'), 'must be of the form "ipv4"')
})

test('what a schema says itself is left as it is', () => {
  assert.equal(faultOf(z.string('must be your name'), 7), 'must be your name')
  assert.equal(faultOf(z.string().regex(/^a/, 'begins with an a'), 'b'), 'begins with an a')
})
