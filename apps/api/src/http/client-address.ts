import { isIP } from 'node:net'
import type { Context } from 'hono'
import type { ApiEnv } from './api-env.ts'

export type AddressReader = (c: Context<ApiEnv>) => string

/**
 * Whose request it is. Each trusted proxy appends the address that it heard to X-Forwarded-For, so the caller is the
 * entry that the outermost of them wrote; what stands before it was written by the caller and proves nothing.
 */
export function createAddressReader(trustedProxies: number): AddressReader {
  return (c) => {
    const peer = c.env.incoming.socket.remoteAddress ?? 'unknown'
    if (trustedProxies === 0) return peer
    const entries = (c.req.header('x-forwarded-for') ?? '').split(',').map((entry) => entry.trim())
    const claimed = entries.at(-trustedProxies)
    return claimed !== undefined && isIP(claimed) !== 0 ? claimed : peer
  }
}
