import { requireAnyScope } from '@toolyard/access/require-scope'
import type { Verifier } from '@toolyard/access/verifier'
import type { Scope } from '@toolyard/contract/scopes'
import { AppError } from '@toolyard/contract/errors'
import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { ApiEnv } from './api-env.ts'
import type { AddressReader } from './client-address.ts'

/** Makes the guards of the routes: without a valid key that has one of the scopes no body is read, no handler runs (I9). */
export function createGuard(verifier: Verifier, clientAddress: AddressReader) {
  return (...anyOf: [Scope, ...Scope[]]) =>
    createMiddleware<ApiEnv>(async (c, next) => {
      const key = await verifier.verify(bearerToken(c.req.header('authorization')), clientAddress(c))
      c.set('key', key)
      c.get('event').set({ key_id: key.id })
      requireAnyScope(key, anyOf)
      await next()
    })
}

/** For answers that go on: asks again whether the key of this request works, and throws when it does not. */
export function createKeyCheck(verifier: Verifier, clientAddress: AddressReader) {
  return (c: Context<ApiEnv>) => {
    const token = bearerToken(c.req.header('authorization'))
    const address = clientAddress(c)
    return () => verifier.verify(token, address)
  }
}

export type KeyCheck = ReturnType<typeof createKeyCheck>

export type Guard = ReturnType<typeof createGuard>

/** What a route behind a guard declares: the lock, and that it is there. */
export const guarded = (guard: Guard, ...anyOf: [Scope, ...Scope[]]) => ({
  security: [{ key: [] }],
  middleware: guard(...anyOf),
})

function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const match = /^bearer +(\S+)$/i.exec(header)
  if (match === null) {
    throw new AppError('unauthenticated', 'The Authorization header must read "Bearer yk_…"')
  }
  return match[1]
}
