import type { Context } from 'hono'
import type { ApiEnv } from '../http/api-env.ts'

/** What the outermost of our proxies was asked, where there are proxies to believe; else what this process was. */
export type BrowserView = {
  isHttps: (c: Context<ApiEnv>) => boolean
  /** Whether a page of this very origin made the request. A browser lets no page say so of another. */
  isFromOurPage: (c: Context<ApiEnv>) => boolean
}

export function createBrowserView(trustedProxies: number): BrowserView {
  // A proxy appends to these headers, or it replaces them, and then there is one entry only.
  const told = (c: Context<ApiEnv>, header: string) => {
    if (trustedProxies === 0) return undefined
    const entries = (c.req.header(header) ?? '').split(',').map((entry) => entry.trim())
    return (entries.at(-trustedProxies) ?? entries[0]) || undefined
  }
  return {
    isHttps: (c) => told(c, 'x-forwarded-proto')?.toLowerCase() === 'https',
    isFromOurPage(c) {
      const site = c.req.header('sec-fetch-site')
      if (site !== undefined) return site === 'same-origin'
      // Browsers send that header to secure addresses only; this one with every request that is not a GET.
      const origin = c.req.header('origin')
      const host = told(c, 'x-forwarded-host') ?? c.req.header('host')
      return origin !== undefined && host !== undefined && hostOf(origin) === host.toLowerCase()
    },
  }
}

function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin)?.[1]?.toLowerCase()
}
