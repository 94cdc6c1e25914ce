import type { HmacOptions } from '@toolyard/contract/webhook-trigger'
import type { ReceivedWebhook, Verification } from '../signing/verification.ts'
import { verifyHmac } from './verify-hmac.ts'

// GitHub signs the body and nothing else: no time, and its id of the event can be changed by whoever repeats a message.

const github: HmacOptions = {
  header: 'x-hub-signature-256',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: 'sha256=',
  signed: 'body',
  timestamp_unit: 'seconds',
  tolerance_seconds: 300,
  event_id_header: 'x-github-delivery',
}

export function verifyGithub(received: ReceivedWebhook, secrets: readonly string[], now: Date): Verification {
  return verifyHmac(received, github, secrets, now)
}
