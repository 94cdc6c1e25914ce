import { hmacOptions } from '@toolyard/contract/webhook-trigger'
import type { ReceivedWebhook, Verification } from '../signing/verification.ts'
import { refuse } from '../signing/verification.ts'
import { secretsRefusal } from './secrets-refusal.ts'
import { verifyGithub } from './verify-github.ts'
import { verifyHmac } from './verify-hmac.ts'
import { verifyStandard } from './verify-standard.ts'
import { verifyStripe } from './verify-stripe.ts'
import { verifyToken } from './verify-token.ts'

// The secret, or a signature in the one form that its sender has.
const ways = { token: verifyToken, standard: verifyStandard, github: verifyGithub, stripe: verifyStripe }

/** As the trigger of a manifest has it. */
export type IncomingAuth =
  | { readonly auth: keyof typeof ways }
  /** Parsed here once more, so that no signature is compared by options that contradict each other. */
  | { readonly auth: 'hmac'; readonly hmac: unknown }

/** Whether a message is from one who knows a secret. Whatever was received: an answer, never an error. */
export function verifyIncoming(
  received: ReceivedWebhook,
  trigger: IncomingAuth,
  secrets: readonly string[],
  now: Date,
): Verification {
  const unusable = secretsRefusal(secrets)
  if (unusable !== undefined) return unusable
  if (trigger.auth !== 'hmac') return ways[trigger.auth](received, secrets, now)
  const options = hmacOptions.safeParse(trigger.hmac)
  return options.success
    ? verifyHmac(received, options.data, secrets, now)
    : refuse('misconfigured', 'the options of "hmac" are not valid')
}
