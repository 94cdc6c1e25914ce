import { RequestError } from '@hono/node-server'
import { AppError } from '@toolyard/contract/errors'
import { newPrefixedId } from '@toolyard/contract/ids'
import type { Logger } from '@toolyard/log/logger'
import type { Metrics } from '@toolyard/log/metrics'
import { problemType, toProblem, toRefusal } from './problem.ts'
import { dataHeaders } from './security-headers.ts'

export type UnreadAnswer = { status: number; headers: Readonly<Record<string, string>>; body: string }

/** `error` says why a request did not come as far as the routes. */
export type RefuseUnread = (error: unknown, address: string) => UnreadAnswer

// What Node's parser says, where the status tells more than 400 would.
const refusals: Readonly<Record<string, [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
}
const unreadable: [status: number, detail: string] = [400, 'This is not an HTTP request that can be read']

/**
 * The answer to a request that the routes never see, because its head cannot be read: it too gets an id, the headers,
 * a problem and one line in the log.
 */
export function createUnreadRefuser({ log, metrics }: { log: Logger; metrics: Metrics }): RefuseUnread {
  const counter = metrics.counter('http_unread_requests_total', 'Requests that could not be read', ['status'])
  return (error, address) => {
    const reason = reasonOf(error)
    const [status, detail] = refusals[reason ?? ''] ?? unreadable
    const refusal = reason === undefined ? toRefusal(error) : new AppError('malformed_request', detail)
    const problem = toProblem(refusal, newPrefixedId('req'))
    if (reason !== undefined) problem.status = status
    counter.add({ status: problem.status })
    const fields = { request_id: problem.request_id, address, status: problem.status, code: problem.code }
    if (reason === undefined) log.error('request', { ...fields, error })
    else log.info('request', { ...fields, reason })
    return {
      status: problem.status,
      headers: { ...dataHeaders, 'content-type': problemType, 'x-request-id': problem.request_id },
      body: JSON.stringify(problem),
    }
  }
}

/** Undefined where the fault is not in the request but ours. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof RequestError) return 'target'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.startsWith('HPE_') || code in refusals ? code : undefined
}
