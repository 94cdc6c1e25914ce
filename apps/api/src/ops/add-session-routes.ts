import type { Verifier } from '@toolyard/access/verifier'
import { AppError } from '@toolyard/contract/errors'
import type { Api } from '../create-api.ts'
import type { AddressReader } from '../http/client-address.ts'
import { statusOf, toRefusal } from '../http/problem.ts'
import type { BrowserView } from './browser-view.ts'
import { formStyle, signInPage, signOutPage } from './form-pages.ts'
import { foreignPage } from './ops-guard.ts'
import { fileHeaders, formHeaders } from './ops-headers.ts'
import { requireOperatorKey } from './require-operator-key.ts'
import type { SessionCookie } from './session-cookie.ts'
import type { Sessions } from './sessions.ts'

export type SessionRoutesDeps = {
  verifier: Verifier
  clientAddress: AddressReader
  sessions: Sessions
  cookie: SessionCookie
  view: BrowserView
}

export const signInPath = '/ops/sign-in'
/** A token is 94 characters; whoever has no key yet need not send more. */
export const signInMaxBytes = 1_024

/** Signing in with a key, in a browser, and out again. A wrong key costs its address what it costs everywhere. */
export function addSessionRoutes(api: Api, deps: SessionRoutesDeps): void {
  const { verifier, clientAddress, sessions, cookie, view } = deps
  api.get('/ops/form.css', (c) =>
    c.body(formStyle, 200, { ...fileHeaders, 'content-type': 'text/css; charset=utf-8' }),
  )
  api.get(signInPath, (c) => c.html(signInPage(), 200, formHeaders))
  api.post(signInPath, async (c) => {
    try {
      // Else a foreign page could sign somebody in with its own key, and watch what they do with it.
      if (!view.isFromOurPage(c)) throw foreignPage()
      const given = (await c.req.parseBody())['key']
      if (typeof given !== 'string' || given.trim() === '')
        throw new AppError('unauthenticated', 'A key is needed')
      const key = await verifier.verify(given.trim(), clientAddress(c))
      c.get('event').set({ key_id: key.id })
      requireOperatorKey(key)
      cookie.write(c, await sessions.begin(key.id))
      return c.redirect('/ops/queues', 303)
    } catch (error) {
      const refusal = toRefusal(error)
      // A fault of ours is told as all are.
      if (refusal.code === 'internal') throw error
      const status = statusOf[refusal.code]
      const retryAfter = refusal.retryAfterSeconds ?? (status === 503 ? 1 : undefined)
      if (retryAfter !== undefined) c.header('retry-after', String(retryAfter))
      c.get('event').set({ code: refusal.code })
      return c.html(signInPage(toWords(refusal)), status, formHeaders)
    }
  })
  api.get('/ops/sign-out', (c) => c.html(signOutPage(), 200, formHeaders))
  api.post('/ops/sign-out', (c) => {
    if (!view.isFromOurPage(c)) throw foreignPage()
    cookie.remove(c)
    return c.redirect(signInPath, 303)
  })
}

function toWords({ message, retryAfterSeconds }: AppError): string {
  return retryAfterSeconds === undefined ? message : `${message}; try again in ${retryAfterSeconds} s`
}
