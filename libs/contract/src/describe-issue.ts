import type { z } from 'zod'

type Issue = z.core.$ZodRawIssue
type Bound = Extract<Issue, { code: 'too_small' | 'too_big' }>
type Union = Extract<Issue, { code: 'invalid_union' }>

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const formatNames: Readonly<Record<string, string>> = {
  datetime: 'a date and time with its zone, as in 2031-05-17T08:00:00Z',
  url: 'a URL',
  uuid: 'a UUID',
}

const units: Readonly<Record<string, string>> = { string: 'characters', array: 'items', set: 'items' }

/** How to mend what a schema refuses, in plain words. What a schema says itself goes before this. */
export function describeIssue(issue: Issue): string {
  if (issue.input === undefined) return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? 'JSON'}`
    case 'invalid_value':
      return `must be one of ${listOf(issue.values)}`
    case 'too_small':
    case 'too_big':
      return describeBound(issue)
    case 'invalid_format':
      return `must be ${formatNames[issue.format] ?? `of the form "${issue.format}"`}`
    case 'unrecognized_keys':
      return 'is not known here: remove it'
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_union':
      return describeUnion(issue)
    case 'invalid_key':
      return issue.issues.map(({ message }) => message).join('; ')
    case 'invalid_element':
    case 'custom':
      break
  }
  return 'is not valid'
}

function describeBound(issue: Bound): string {
  const [within, beyond, limit] =
    issue.code === 'too_small'
      ? ['at least', 'more than', issue.minimum]
      : ['at most', 'less than', issue.maximum]
  const bound = `${issue.inclusive === false ? beyond : within} ${limit}`
  const unit = units[issue.origin]
  return unit === undefined ? `must be ${bound}` : `must have ${bound} ${unit}`
}

// Either a kind that is written beside the others, or a value of several types.
function describeUnion(issue: Union): string {
  if ('discriminator' in issue && Array.isArray(issue['options'])) {
    const isGiven = isObject(issue.input) && Object.hasOwn(issue.input, String(issue['discriminator']))
    return isGiven ? `must be one of ${listOf(issue['options'])}` : 'is required'
  }
  const types = issue.errors.map(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? typeNames[first.expected] : undefined,
  )
  if (types.includes(undefined)) return 'fits none of the forms that are allowed here'
  return `must be ${types.slice(0, -1).join(', ')}, or ${types.at(-1)}`
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null

const listOf = (values: readonly unknown[]) => values.map(String).join(', ')
