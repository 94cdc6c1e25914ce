import { AppError } from '@toolyard/contract/errors'
import type { Json } from '@toolyard/contract/parameters'
import type { Invocation } from './invocation.ts'
import { delayMaxMs, idempotencyKeyMax, ttlMaxMs } from '@toolyard/contract/call-limits'

/** One request to run a tool, validated against the tool's manifest and resolved against the caller's key. */
export type Submission = {
  tool: string
  topic: string
  /** Whose call it is; null: the platform's own. */
  keyId: string | null
  params: Readonly<Record<string, Json>>
  telemetry: Readonly<Record<string, Json>>
  metadata?: Json | undefined
  callbackUrl?: string | undefined
  /** 0 to 9, higher first. */
  priority?: number | undefined
  delayMs?: number | undefined
  ttlMs?: number | undefined
  searchId?: string | undefined
  /** `bodyHash` is of what the caller sent, before anything was filled in: see `hashBody`. */
  idempotency?: { key: string; bodyHash: Buffer } | undefined
  /** The version by whose manifest its params were judged: refused when the tool has another by now. */
  checkedHash?: string | undefined
  /** Runs this version of the tool and no other. */
  pinnedHash?: string | undefined
  replayOf?: string | undefined
}

export type SubmitRefusal =
  | { code: 'unknown_tool' | 'tool_disabled' | 'tools_disabled' | 'image_failed' | 'idempotency_mismatch' }
  | { code: 'tool_changed' }
  | { code: 'queue_full' | 'budget_exhausted'; retryAfterSeconds: number; message: string }

export type Submitted =
  /** `replayed`: an earlier request with the same idempotency key and body made it. */
  { kind: 'accepted'; invocation: Invocation; replayed: boolean } | ({ kind: 'refused' } & SubmitRefusal)

/** A submission that can be stored, its values written out. */
export type CheckedSubmission = Submission & { json: { params: string; telemetry: string; metadata: string } }

/** Callers share statements, so what Postgres would refuse for one of them must not get that far. */
export function checkSubmission(submission: Submission): CheckedSubmission {
  const { priority = 0, delayMs = 0, ttlMs = 1, idempotency } = submission
  const faults = [
    ...wholeFaults('/priority', priority, 0, 9),
    ...wholeFaults('/delay_ms', delayMs, 0, delayMaxMs),
    ...wholeFaults('/ttl_ms', ttlMs, 1, ttlMaxMs),
    ...textFaults('/tool', submission.tool, 100),
    ...textFaults('/topic', submission.topic, 300),
    ...textFaults('/callback_url', submission.callbackUrl, 4_000),
    ...textFaults('/search_id', submission.searchId, 200),
    ...textFaults('/idempotency_key', idempotency?.key, idempotencyKeyMax),
  ]
  if (faults.length > 0) throw new AppError('invalid_request', 'The request has faults', { faults })
  const { params, telemetry, metadata = {} } = submission
  return {
    ...submission,
    json: {
      params: writeJson('/params', params),
      telemetry: writeJson('/telemetry', telemetry),
      metadata: writeJson('/metadata', metadata),
    },
  }
}

function writeJson(pointer: string, value: Json | Readonly<Record<string, Json>>): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    const faults = [{ pointer, detail: 'is nested too deep' }]
    throw new AppError('invalid_request', 'The request has faults', { faults, cause })
  }
}

function wholeFaults(pointer: string, value: number, min: number, max: number) {
  const fits = Number.isSafeInteger(value) && value >= min && value <= max
  return fits ? [] : [{ pointer, detail: `must be a whole number from ${min} to ${max}` }]
}

function textFaults(pointer: string, text: string | undefined, max: number) {
  if (text === undefined) return []
  if (text.length === 0 || text.length > max) return [{ pointer, detail: `must have 1 to ${max} characters` }]
  const isStorable = text.isWellFormed() && !text.includes('\0')
  return isStorable ? [] : [{ pointer, detail: 'must hold neither U+0000 nor half a character' }]
}
