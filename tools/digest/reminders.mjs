import { dayOf, daysBetween, partsOf, plusDays, weekdayOf } from './days.mjs'

// Reminders are lines of text: when, then what. A line that cannot be read is told, and disturbs no other.

const linesMax = 500
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

const kinds = [
  { pattern: /^(\d{4})-(\d{2})-(\d{2})$/, read: ([year, month, day]) => onDate(year, month, day) },
  { pattern: /^(\d{2})-(\d{2})$/, read: ([month, day]) => everyYear(month, day) },
  { pattern: /^(\d{1,2})\.$/, read: ([day]) => everyMonth(day) },
  { pattern: /^([a-z]{3,9})$/i, read: ([word]) => (word === 'daily' ? () => true : everyWeek(word)) },
]

/** The reminders and the numbers of the lines that are none. */
export function readReminders(text) {
  const reminders = []
  const unread = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.trim().startsWith('#')) continue
    const reminder = index < linesMax ? readLine(line.trim()) : undefined
    if (reminder === undefined) unread.push(index + 1)
    else reminders.push(reminder)
  }
  return { reminders, unread }
}

function readLine(line) {
  const [, when = '', what = ''] = /^(\S+)\s+(\S.*)$/.exec(line) ?? []
  for (const { pattern, read } of kinds) {
    const match = pattern.exec(when.toLowerCase())
    const isDue = match === null ? undefined : read(match.slice(1))
    if (isDue !== undefined) return { what, isDue, ...(isDue.day === undefined ? {} : { day: isDue.day }) }
  }
  return undefined
}

function onDate(...numbers) {
  const wanted = dayOf(...numbers.map(Number))
  return wanted === undefined ? undefined : Object.assign((day) => day === wanted, { day: wanted })
}

function everyYear(month, day) {
  // 2024 had every day that a year can have.
  if (dayOf(2024, Number(month), Number(day)) === undefined) return undefined
  return (one) => {
    const { year } = partsOf(one)
    return one === (dayOf(year, Number(month), Number(day)) ?? dayOf(year, 2, 28))
  }
}

function everyMonth(number) {
  const wanted = Number(number)
  if (wanted < 1 || wanted > 31) return undefined
  return (one) => {
    const { year, month, day } = partsOf(one)
    const last = partsOf(plusDays(dayOf(month === 12 ? year + 1 : year, (month % 12) + 1, 1), -1)).day
    return day === Math.min(wanted, last)
  }
}

function everyWeek(word) {
  const wanted = weekdays.findIndex((name) => name === word || name.slice(0, 3) === word)
  return wanted === -1 ? undefined : (day) => weekdayOf(day) === wanted
}

/** What is due on each day from the first on, and what was for a day that is gone. */
export function agenda(reminders, today, dayCount) {
  const days = Array.from({ length: dayCount }, (_, index) => plusDays(today, index))
  const due = days.map((day) => ({
    day,
    what: reminders.filter(({ isDue }) => isDue(day)).map(({ what }) => what),
  }))
  const past = reminders.filter(({ day }) => day !== undefined && day < today)
  return { due, past: past.map(({ what, day }) => ({ what, day, ago: daysBetween(day, today) })) }
}
