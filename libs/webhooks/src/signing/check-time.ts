import type { Refusal } from './verification.ts'
import { refuse } from './verification.ts'

export const toleranceSecondsDefault = 300

// Exactly as a number is written, because it is signed as a text: "007" and "7" would be one time and two texts.
const wholeNumber = /^(?:0|[1-9]\d{0,14})$/

export type TimeWindow = {
  readonly now: Date
  readonly toleranceSeconds: number
  readonly unit: 'seconds' | 'milliseconds'
}

/** The time in a header, if it is a time and near enough to now, before or after. The last second of both is inside. */
export function checkTime(header: string, text: string, window: TimeWindow): Date | Refusal {
  if (!wholeNumber.test(text)) {
    return refuse('header_malformed', `${header} has no time in whole ${window.unit} since 1970`)
  }
  const sentMs = Number(text) * (window.unit === 'seconds' ? 1_000 : 1)
  const ageSeconds = Math.floor(window.now.getTime() / 1_000) - Math.floor(sentMs / 1_000)
  const { toleranceSeconds } = window
  // Asked so that a number which is none is outside.
  if (ageSeconds <= toleranceSeconds && ageSeconds >= -toleranceSeconds) return new Date(sentMs)
  return ageSeconds < 0
    ? refuse('too_new', `the time in ${header} is more than ${toleranceSeconds} s ahead`)
    : refuse('too_old', `the time in ${header} is more than ${toleranceSeconds} s ago`)
}
