import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReporter } from './create-reporter.ts'

test('a message is passed on once a second, others at once', () => {
  const told: string[] = []
  let now = 0
  const report = createReporter(
    (error) => told.push(error.message),
    () => now,
  )
  report(new Error('down'))
  report(new Error('down'))
  report(new Error('other'))
  now = 999
  report(new Error('down'))
  now = 1_000
  report(new Error('down'))
  assert.deepEqual(told, ['down', 'other', 'down'])
})
