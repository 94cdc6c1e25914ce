import type { RequestHeaders } from './read-header.ts'

/** A webhook that came, and is not believed yet. */
export type ReceivedWebhook = {
  readonly headers: RequestHeaders
  /** As it came, before anything has read it. */
  readonly body: Buffer
}

export type Verification =
  | {
      readonly ok: true
      /** What the sender calls the event, however often it sends it. */
      readonly eventId?: string
      /** Signed by the sender, and near to now. */
      readonly sentAt?: Date
    }
  | Refusal

/** Why a message is not believed. Fixed words, for a log and a metric; whoever sent it is told none of them. */
export type RefusalReason =
  | 'no_secret'
  | 'misconfigured'
  | 'header_missing'
  | 'header_malformed'
  | 'header_too_long'
  | 'too_many_signatures'
  | 'too_old'
  | 'too_new'
  | 'no_match'

export type Refusal = {
  readonly ok: false
  readonly reason: RefusalReason
  /** For operators. Names a header or a setting, and never holds a value of either. */
  readonly detail: string
}

export function refuse(reason: RefusalReason, detail: string): Refusal {
  return { ok: false, reason, detail }
}

export const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'ok' in value && value.ok === false
