import type { SpanContext } from '@opentelemetry/api'
import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { idBytes } from '@toolyard/contract/id-bytes'

/** W3C trace context: the caller's trace goes on through us, or a new one begins here. No exporter is needed. */
export type Trace = {
  traceId: string
  spanId: string
  parentSpanId?: string
  headers: Readonly<Record<string, string>>
}

const propagator = new W3CTraceContextPropagator()

/** Reads `traceparent` and `tracestate`, and opens a span of our own below it. A malformed header starts a new trace. */
export function continueTrace(headers: Readonly<Record<string, string | undefined>>): Trace {
  const parent = trace.getSpanContext(propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter))
  const own: SpanContext = {
    traceId: parent?.traceId ?? idBytes(16).toString('hex'),
    spanId: idBytes(8).toString('hex'),
    traceFlags: parent?.traceFlags ?? TraceFlags.NONE,
    ...(parent?.traceState === undefined ? {} : { traceState: parent.traceState }),
  }
  const outgoing: Record<string, string> = {}
  propagator.inject(trace.setSpanContext(ROOT_CONTEXT, own), outgoing, defaultTextMapSetter)
  return {
    traceId: own.traceId,
    spanId: own.spanId,
    ...(parent === undefined ? {} : { parentSpanId: parent.spanId }),
    headers: outgoing,
  }
}
