/** When the zone's clock shows one of its times. Lists are ascending and never empty. */
export type Pattern = {
  readonly seconds: readonly number[]
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  /** 1 to 12. */
  readonly months: ReadonlySet<number>
  /** Undefined: the pattern does not ask for it. Where it asks for both, one is enough. */
  readonly ofMonth: DaysOfMonth | undefined
  readonly ofWeek: readonly DayOfWeek[] | undefined
}

export type DaysOfMonth = { readonly days: ReadonlySet<number>; readonly last: boolean }

export type DayOfWeek = {
  /** 0 is Sunday. */
  readonly day: number
  /** Which of the month: a number is the first to the fifth. */
  readonly which: 'each' | 'last' | number
}

const dayMs = 86_400_000

/**
 * The first time of a pattern from `fromMs` on and before `beforeMs`. Times are those of a clock that is never
 * changed, in milliseconds as if it were UTC.
 */
export function firstTime(pattern: Pattern, fromMs: number, beforeMs: number): number | undefined {
  let day = Math.floor(fromMs / dayMs) * dayMs
  while (day < beforeMs) {
    const date = new Date(day)
    if (!pattern.months.has(date.getUTCMonth() + 1)) {
      day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
      continue
    }
    const seconds = isDay(pattern, date) ? firstOfDay(pattern, (fromMs - day) / 1_000) : undefined
    if (seconds !== undefined) return day + seconds * 1_000 < beforeMs ? day + seconds * 1_000 : undefined
    day += dayMs
  }
  return undefined
}

function isDay({ ofMonth, ofWeek }: Pattern, date: Date): boolean {
  if (ofMonth === undefined && ofWeek === undefined) return true
  return isDayOfMonth(ofMonth, date) || isDayOfWeek(ofWeek, date)
}

function isDayOfMonth(ofMonth: DaysOfMonth | undefined, date: Date): boolean {
  if (ofMonth === undefined) return false
  return ofMonth.days.has(date.getUTCDate()) || (ofMonth.last && isOtherMonth(date, 1))
}

function isDayOfWeek(ofWeek: readonly DayOfWeek[] | undefined, date: Date): boolean {
  if (ofWeek === undefined) return false
  const weekday = date.getUTCDay()
  return ofWeek.some(({ day, which }) => {
    if (day !== weekday) return false
    if (which === 'each') return true
    return which === 'last' ? isOtherMonth(date, 7) : Math.ceil(date.getUTCDate() / 7) === which
  })
}

const isOtherMonth = (date: Date, daysLater: number) =>
  new Date(date.getTime() + daysLater * dayMs).getUTCMonth() !== date.getUTCMonth()

/** In seconds of the day. */
function firstOfDay({ hours, minutes, seconds }: Pattern, from: number): number | undefined {
  for (const hour of hours) {
    if (hour * 3_600 + 3_599 < from) continue
    for (const minute of minutes) {
      const minuteAt = hour * 3_600 + minute * 60
      if (minuteAt + 59 < from) continue
      const second = seconds.find((one) => minuteAt + one >= from)
      if (second !== undefined) return minuteAt + second
    }
  }
  return undefined
}
