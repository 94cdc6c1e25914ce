import { after } from 'node:test'
import type { Proxy } from './open-proxy.ts'
import { openProxy } from './open-proxy.ts'

export type StallableProxy = Omit<Proxy, 'close'>

/** As `openProxy`; ends with the test file. */
export async function stallableProxy(url: string): Promise<StallableProxy> {
  const proxy = await openProxy(url)
  after(() => proxy.close())
  return proxy
}
