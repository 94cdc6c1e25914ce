import { newPrefixedId } from '@toolyard/contract/ids'
import type { LogLevel, Logger } from '@toolyard/log/logger'
import type { Metrics } from '@toolyard/log/metrics'
import { continueTrace } from '@toolyard/log/trace'
import { startWideEvent } from '@toolyard/log/wide-event'
import { createMiddleware } from 'hono/factory'
import { routePath } from 'hono/route'
import type { ApiEnv } from './api-env.ts'
import type { AddressReader } from './client-address.ts'

export type ObserveOptions = { log: Logger; metrics: Metrics; clientAddress: AddressReader }

// A caller's own id is worth a field in the log and no more: it could be anything, and another's.
const callerIdPattern = /^[A-Za-z0-9_.:=-]{1,64}$/

/** Gives each request its id and its place in the caller's trace, and writes one line and one measurement at its end. */
export function observeRequest({ log, metrics, clientAddress }: ObserveOptions) {
  const requests = metrics.counter('http_requests_total', 'Requests answered', ['method', 'route', 'status'])
  const seconds = metrics.histogram('http_request_seconds', 'From the request line to the answer’s head', [
    'method',
    'route',
  ])
  return createMiddleware<ApiEnv>(async (c, next) => {
    const startedAt = performance.now()
    const requestId = newPrefixedId('req')
    const trace = continueTrace(c.req.header())
    const callerId = c.req.header('x-request-id')
    const event = startWideEvent(log, 'request', {
      request_id: requestId,
      trace_id: trace.traceId,
      span_id: trace.spanId,
      parent_span_id: trace.parentSpanId,
      method: c.req.method,
      address: clientAddress(c),
      ...(callerId !== undefined && callerIdPattern.test(callerId) ? { caller_request_id: callerId } : {}),
    })
    c.set('requestId', requestId)
    c.set('event', event)
    c.header('x-request-id', requestId)
    for (const [name, value] of Object.entries(trace.headers)) c.header(name, value)
    await next()
    // The pattern, never the path: a path may hold whatever a caller put there, and each would be a series of its own.
    const route = routePath(c, -1)
    const labels = { method: knownMethod(c.req.method), route }
    requests.add({ ...labels, status: c.res.status })
    seconds.observe(labels, (performance.now() - startedAt) / 1_000)
    // Nobody reads the answer then, and its status may be only what a broken body came to.
    const hasLeft = c.env.incoming.socket.destroyed
    event.set({ route, status: c.res.status, ...(hasLeft ? { client_left: true } : {}) })
    event.emit(levelOf(route, c.res.status))
  })
}

// Asked again and again, by whoever starts it or looks after it: that all is still well is no news.
const probes = new Set(['/healthz', '/readyz'])

function levelOf(route: string, status: number): LogLevel {
  if (status >= 500) return 'error'
  return status === 200 && probes.has(route) ? 'debug' : 'info'
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const knownMethod = (method: string) => (methods.has(method) ? method : 'other')
