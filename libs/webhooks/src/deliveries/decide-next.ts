// What becomes of a delivery after a try. Pure: times are given.

/** What a try came to. Without a status there was no answer. */
export type TryOutcome = { status?: number; retryAfter?: string | undefined }

export type Next =
  | { kind: 'delivered' }
  /** The receiver wants nothing any more. */
  | { kind: 'gone' }
  | { kind: 'again'; afterMs: number }
  | { kind: 'dead' }

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

// After the first try, the second, …: ten tries in about three days.
const pausesMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  4 * hour,
  10 * hour,
  20 * hour,
  36 * hour,
]
export const triesMax = pausesMs.length + 1

/** So that what failed together does not come together. */
const jitter = 0.2
const retryAfterMaxMs = 24 * hour

/** `tries` counts this one. `random` is from 0 to 1. */
export function decideNext(outcome: TryOutcome, tries: number, now: Date, random: number): Next {
  const { status } = outcome
  if (status !== undefined && status >= 200 && status < 300) return { kind: 'delivered' }
  if (status === 410) return { kind: 'gone' }
  const pauseMs = pausesMs[tries - 1]
  if (pauseMs === undefined) return { kind: 'dead' }
  const ownMs = pauseMs * (1 + jitter * (2 * random - 1))
  return { kind: 'again', afterMs: Math.round(Math.max(ownMs, askedMs(outcome.retryAfter, now))) }
}

/** Seconds or a date, as HTTP has it; nonsense asks for nothing. */
function askedMs(retryAfter: string | undefined, now: Date): number {
  if (retryAfter === undefined) return 0
  const text = retryAfter.trim()
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * second : dateMs(text) - now.getTime()
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), retryAfterMaxMs) : 0
}

// Date.parse takes much else, as a bare number for a year.
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/
const dateMs = (text: string) => (httpDate.test(text) ? Date.parse(text) : Number.NaN)
