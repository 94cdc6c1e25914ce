import type { AccessKey } from '@toolyard/access/access-key'
import { requireScope } from '@toolyard/access/require-scope'
import { AppError } from '@toolyard/contract/errors'
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { ApiEnv } from '../http/api-env.ts'
import type { Guard } from '../http/authenticate.ts'
import type { BrowserView } from './browser-view.ts'
import type { FindSessionKeyDeps } from './find-session-key.ts'
import { endedSession, findSessionKey } from './find-session-key.ts'
import { requireOperatorKey } from './require-operator-key.ts'
import type { SessionCookie } from './session-cookie.ts'
import type { Sessions } from './sessions.ts'

export type OpsGuardDeps = FindSessionKeyDeps & {
  guard: Guard
  sessions: Sessions
  cookie: SessionCookie
  view: BrowserView
}

const readingMethods = new Set(['GET', 'HEAD'])

/**
 * Lets through whoever has a key for operators: in the header, as everywhere else, or by a session. Whatever is not
 * a reading method needs tools:manage too, whichever route it is for; and by a session, a page of ours that asks.
 */
export function createOpsGuard({ guard, sessions, cookie, view, ...deps }: OpsGuardDeps) {
  const byHeader = guard('ops:view')

  async function keyOfSession(c: Context<ApiEnv>): Promise<AccessKey> {
    const session = cookie.read(c)
    const keyId = session === undefined ? undefined : await sessions.keyIdOf(session)
    if (keyId === undefined) throw endedSession()
    c.get('event').set({ key_id: keyId, session: true })
    if (!readingMethods.has(c.req.method) && !view.isFromOurPage(c)) throw foreignPage()
    return findSessionKey(deps, keyId)
  }

  return createMiddleware<ApiEnv>(async (c, next) => {
    const enter = async () => {
      requireOperatorKey(c.get('key'))
      if (!readingMethods.has(c.req.method)) requireScope(c.get('key'), 'tools:manage')
      await next()
    }
    if (c.req.header('authorization') !== undefined) return byHeader(c, enter)
    c.set('key', await keyOfSession(c))
    return enter()
  })
}

export type OpsGuard = ReturnType<typeof createOpsGuard>

export function foreignPage(): AppError {
  return new AppError('unauthenticated', 'This must come from a page of this very address')
}
