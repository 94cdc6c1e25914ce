import type { Call } from '@toolyard/access/actor'
import type { Context } from 'hono'
import type { ApiEnv } from './api-env.ts'

/** Who asks, and under which request id, for the verbs behind a guard. */
export function callOf(c: Context<ApiEnv>): Call & { actor: { kind: 'key' } } {
  return { actor: { kind: 'key', key: c.get('key') }, requestId: c.get('requestId') }
}
