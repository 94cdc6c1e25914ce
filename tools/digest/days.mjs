export class Refusal extends Error {}

const dayMs = 86_400_000

/** A day without a time, as the milliseconds of its midnight in UTC: days are counted, clocks do not matter. */
export function dayOf(year, month, day) {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  return isReal ? date.getTime() : undefined
}

export function readDay(text) {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text.trim()) ?? []
  const read = year === undefined ? undefined : dayOf(Number(year), Number(month), Number(day))
  if (read === undefined) throw new Refusal(`'${text.slice(0, 40)}' is no date: write it as 2026-12-24.`)
  return read
}

/** The day that it is in that zone at that moment. */
export function todayIn(zone, now) {
  try {
    // The one locale that writes a date as 2026-12-24.
    return readDay(new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(now))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new Refusal(`The time zone '${zone.slice(0, 60)}' is not known: set zone as Europe/Paris.`)
  }
}

export const plusDays = (day, count) => day + count * dayMs
export const daysBetween = (from, to) => Math.round((to - from) / dayMs)
export const isoDay = (day) => new Date(day).toISOString().slice(0, 10)
export const weekdayOf = (day) => new Date(day).getUTCDay()

export function partsOf(day) {
  const date = new Date(day)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

const format = (options) => new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options })
const long = format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })
const short = format({ weekday: 'short', day: 'numeric', month: 'short' })

export const longDay = (day) => long.format(day)
export const shortDay = (day) => short.format(day)

/** What is to say of a day by itself. */
export function factsOf(day) {
  const { year } = partsOf(day)
  const dayOfYear = daysBetween(dayOf(year, 1, 1), day) + 1
  // The week of a day is that of its Thursday.
  const thursday = plusDays(day, 4 - (weekdayOf(day) || 7))
  const week = Math.floor(daysBetween(dayOf(partsOf(thursday).year, 1, 1), thursday) / 7) + 1
  return { week, dayOfYear, daysLeft: daysBetween(day, dayOf(year, 12, 31)) }
}
