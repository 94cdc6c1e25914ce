import { z } from '@hono/zod-openapi'

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

const formatNames: Readonly<Record<string, string>> = {
  datetime: 'a date and time with its zone, as in 2031-05-17T08:00:00Z',
  url: 'a URL',
  uuid: 'a UUID',
}

const units: Readonly<Record<string, string>> = { string: 'characters', array: 'items', set: 'items' }

/** What to do about a field that a schema refuses. What a schema says itself goes before this. */
function describeFault(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? 'is required'
        : `must be ${typeNames[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`
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
      return 'fits none of the forms that are allowed here'
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      break
  }
  return 'is not valid'
}

/** Makes zod speak so. It is one setting for the process. */
export function describeFaultsPlainly(): void {
  z.config({ localeError: describeFault })
}

function describeBound(issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string {
  const bound = issue.code === 'too_small' ? `at least ${issue.minimum}` : `at most ${issue.maximum}`
  const unit = units[issue.origin]
  return unit === undefined ? `must be ${bound}` : `must have ${bound} ${unit}`
}
