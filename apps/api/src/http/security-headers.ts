import { createMiddleware } from 'hono/factory'
import type { ApiEnv } from './api-env.ts'

type HeaderRecord = Readonly<Record<string, string>>

// No Strict-Transport-Security: TLS ends at the operator's proxy, and only that can promise it for its host.
const everywhere = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** For answers that are data: nothing in them may run, be framed, be guessed at or be kept. */
export const dataHeaders: HeaderRecord = {
  ...everywhere,
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** For the one page that is shown to people: its own scripts and styles, and nothing from anywhere else. */
export const pageHeaders: HeaderRecord = {
  ...everywhere,
  'cache-control': 'public, max-age=3600',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    // The page's library sets style attributes.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
}

/** Gives every answer the headers for data, except those that its route sets itself. */
export const sendDataHeaders = createMiddleware<ApiEnv>(async (c, next) => {
  // Before the route: on an answer that is made each of them would cost a copy of it.
  for (const [name, value] of Object.entries(dataHeaders)) c.header(name, value)
  await next()
})
