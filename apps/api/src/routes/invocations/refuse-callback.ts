import type { AccessKey } from '@toolyard/access/access-key'
import { AppError } from '@toolyard/contract/errors'
import type { Pool } from '@toolyard/db/pool'
import { findCallbackSecret } from '@toolyard/webhooks/callback-secret'
import type { GuardRules } from '@toolyard/webhooks/guard-rules'
import { refuseUrl } from '@toolyard/webhooks/refuse-url'

type Callback = { key: AccessKey; url: string | undefined; rules: GuardRules }

/** What could not be sent, or not be signed, is refused now: nobody would hear of it later. */
export async function refuseCallback(pool: Pool, { key, url, rules }: Callback): Promise<void> {
  if (url === undefined) return
  refuseUrl(url, '/callback_url', rules)
  if ((await findCallbackSecret(pool, { kind: 'key', key })).exists) return
  const mend = 'POST /webhooks/callback-secret makes it'
  throw new AppError('not_configured', `This key has no secret to sign callbacks with: ${mend}`, {
    faults: [{ pointer: '/callback_url', detail: `needs a secret that signs what is sent there: ${mend}` }],
  })
}
