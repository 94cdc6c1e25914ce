import type { AccessKey } from '@toolyard/access/access-key'
import { requireScope } from '@toolyard/access/require-scope'
import { AppError } from '@toolyard/contract/errors'

/** Queues hold the jobs of all tools and topics, and there is no showing a part of them. */
export function requireOperatorKey(key: AccessKey): void {
  requireScope(key, 'ops:view')
  if (key.topics !== null || key.tools !== null)
    throw new AppError('missing_scope', 'A key that is bound to tools or topics cannot see the queues of all')
}
