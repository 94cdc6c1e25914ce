import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { ApiEnv } from '../http/api-env.ts'
import type { BrowserView } from './browser-view.ts'
import { sessionSeconds } from './sessions.ts'

export type SessionCookie = {
  read(c: Context<ApiEnv>): string | undefined
  write(c: Context<ApiEnv>, session: string): void
  remove(c: Context<ApiEnv>): void
}

export function createSessionCookie({ isHttps }: Pick<BrowserView, 'isHttps'>): SessionCookie {
  // With the prefix a browser takes it from a secure answer only, so that nobody on the way can plant another.
  const nameFor = (c: Context<ApiEnv>) => (isHttps(c) ? '__Secure-toolyard_ops' : 'toolyard_ops')
  const rulesFor = (c: Context<ApiEnv>) =>
    ({ path: '/ops', httpOnly: true, sameSite: 'Strict', secure: isHttps(c) }) as const
  return {
    read: (c) => getCookie(c, nameFor(c)),
    write: (c, session) => setCookie(c, nameFor(c), session, { ...rulesFor(c), maxAge: sessionSeconds }),
    remove: (c) => void deleteCookie(c, nameFor(c), rulesFor(c)),
  }
}
