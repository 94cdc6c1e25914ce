import assert from 'node:assert/strict'
import { test } from 'node:test'
import { continueTrace } from './trace.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentSpanId = '00f067aa0ba902b7'

test("the caller's trace goes on, with a span of our own and its state kept", () => {
  const trace = continueTrace({ traceparent: `00-${traceId}-${parentSpanId}-01`, tracestate: 'vendor=x' })
  assert.equal(trace.traceId, traceId)
  assert.equal(trace.parentSpanId, parentSpanId)
  assert.notEqual(trace.spanId, parentSpanId)
  assert.equal(trace.headers['traceparent'], `00-${traceId}-${trace.spanId}-01`)
  assert.equal(trace.headers['tracestate'], 'vendor=x')
})

test('without a header, or with a broken one, a new trace begins', () => {
  const broken = [
    undefined,
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-${parentSpanId}-01`,
    `ff-${traceId}-${parentSpanId}-01`,
  ]
  for (const traceparent of broken) {
    const trace = continueTrace({ traceparent })
    assert.match(trace.traceId, /^[0-9a-f]{32}$/)
    assert.notEqual(trace.traceId, traceId)
    assert.equal(trace.parentSpanId, undefined)
  }
})
