import type { z } from 'zod'

type Issue = z.core.$ZodRawIssue

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const units: Readonly<Record<string, string>> = { string: 'characters', array: 'items' }

/** How to mend what a schema refuses, in plain words. What a schema says itself goes before this. */
export function describeIssue(issue: Issue): string {
  if (issue.input === undefined) return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? 'JSON'}`
    case 'invalid_value':
      return `must be one of ${listOf(issue.values)}`
    case 'too_small':
      return describeBound(
        issue.origin,
        `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`,
      )
    case 'too_big':
      return describeBound(issue.origin, `at most ${issue.maximum}`)
    case 'invalid_union':
      return describeUnion(issue)
    case 'invalid_key':
      return issue.issues.map(({ message }) => message).join('; ')
    case 'invalid_format':
    case 'unrecognized_keys':
    case 'not_multiple_of':
    case 'invalid_element':
    case 'custom':
      break
  }
  return 'is not valid'
}

function describeBound(origin: string, bound: string): string {
  const unit = units[origin]
  return unit === undefined ? `must be ${bound}` : `must have ${bound} ${unit}`
}

// Either a kind that is written beside the others, or a value of several types.
function describeUnion(issue: Extract<Issue, { code: 'invalid_union' }>): string {
  if (!('discriminator' in issue) || !Array.isArray(issue['options'])) {
    return 'must be a text, a number, or true or false'
  }
  const isGiven = isObject(issue.input) && Object.hasOwn(issue.input, String(issue['discriminator']))
  return isGiven ? `must be one of ${listOf(issue['options'])}` : 'is required'
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null

const listOf = (values: readonly unknown[]) => values.map(String).join(', ')
