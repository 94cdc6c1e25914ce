import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErrorCode } from './errors.ts'
import { AppError, errorTitles } from './errors.ts'

test('every code has a title of its own that a caller may read', () => {
  const titles = Object.entries(errorTitles)
  for (const [code, title] of titles) {
    assert.match(code, /^[a-z]+(?:_[a-z]+)*$/)
    assert.match(title, /^[A-Z][^\n.]{8,80}$/, code)
  }
  assert.equal(new Set(titles.map(([, title]) => title)).size, titles.length)
})

test('a refusal carries what its caller needs', () => {
  const cause = new Error('below')
  const faults = [{ pointer: '/name', detail: 'is missing' }]
  const error = new AppError('invalid_request', 'The request has faults', {
    faults,
    retryAfterSeconds: 3,
    cause,
  })
  assert.ok(error instanceof Error)
  assert.deepEqual(
    [error.name, error.code, error.message, error.faults, error.retryAfterSeconds, error.cause],
    ['AppError', 'invalid_request', 'The request has faults', faults, 3, cause],
  )
})

test('a refusal without details has none', () => {
  const code: ErrorCode = 'not_found'
  const error = new AppError(code, 'Gone')
  assert.deepEqual([error.faults, error.retryAfterSeconds, 'cause' in error], [[], undefined, false])
})
