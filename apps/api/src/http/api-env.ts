import type { HttpBindings } from '@hono/node-server'
import type { AccessKey } from '@toolyard/access/access-key'
import type { WideEvent } from '@toolyard/log/wide-event'

/** What a request carries on its way through the middleware. */
export type ApiEnv = {
  Bindings: HttpBindings
  Variables: {
    requestId: string
    event: WideEvent
    /** Set by `authenticate`, so present in every handler behind it. */
    key: AccessKey
  }
}
