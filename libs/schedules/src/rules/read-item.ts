import { CronExpressionParser } from 'cron-parser'
import type { DayOfWeek } from './pattern.ts'

// cron-parser reads the items of a field; what it would take for something else than was meant is refused before:
// it reads 1-2-3 as 1-2, 5* as 50-59, */90 as 0, the month JAN as a Monday. It is given the items one by one, since
// it takes neither a list whose items overlap nor two with #.

export type FieldName = 'second' | 'minute' | 'hour' | 'dayOfMonth' | 'month' | 'dayOfWeek'

export type Item = {
  readonly values: readonly number[]
  /** Of days: which of the month. L as a day of the month has no values. */
  readonly which: DayOfWeek['which']
}

type Field = { title: string; min: number; max: number; names: string; examples: string; shape: RegExp }

const monthNames = 'JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC'
const dayNames = 'SUN|MON|TUE|WED|THU|FRI|SAT'
const number = String.raw`\d{1,2}`

const fields: Readonly<Record<FieldName, Field>> = {
  second: ofClock('second', 59, '0 or 0,30 or */15'),
  minute: ofClock('minute', 59, '5 or 0,30 or 10-20 or */15'),
  hour: ofClock('hour', 23, '8 or 8,20 or 9-17 or */6'),
  dayOfMonth: {
    title: 'day of the month',
    min: 1,
    max: 31,
    names: '',
    examples: '1 or 1,15 or L for the last',
    shape: shapeOf(number, String.raw`|\?|L`),
  },
  month: {
    title: 'month',
    min: 1,
    max: 12,
    names: ' or JAN to DEC',
    examples: '6 or JUN-AUG',
    shape: shapeOf(`${number}|${monthNames}`),
  },
  dayOfWeek: {
    title: 'day of the week',
    min: 0,
    max: 7,
    names: ' or SUN to SAT',
    examples: '1 or MON-FRI or FRI#2 for the second or FRIL for the last',
    shape: shapeOf(String.raw`\d|${dayNames}`, String.raw`|\?|(?:\d|${dayNames})(?:L|#[1-5])`),
  },
}

function ofClock(title: string, max: number, examples: string): Field {
  return { title, min: 0, max, names: '', examples, shape: shapeOf(number) }
}

function shapeOf(value: string, more = ''): RegExp {
  const span = String.raw`\*|(?:${value})(?:-(?:${value}))?`
  return new RegExp(String.raw`^(?:(?<span>${span})(?:/(?<step>\d{1,4}))?${more})$`, 'i')
}

/** What one item of a field stands for, or what is wrong with it. */
export function readItem(name: FieldName, text: string): Item | { detail: string } {
  const { title, min, max, names, examples, shape } = fields[name]
  const found = shape.exec(text)
  const read = found === null ? undefined : expand(name, text)
  if (read === undefined) {
    const allowed = `${min} to ${max}${names}, as ${examples}`
    return { detail: `${title} must be ${allowed}, not ${JSON.stringify(text)}${hintFor(text)}` }
  }
  const { span, step } = found?.groups ?? {}
  if (step === undefined) return read
  const room = expand(name, span === '*' ? span : `${span}/1`)?.values.length ?? 0
  if (Number(step) <= room) return read
  return { detail: `${title} ${text} must have a step of at most ${room}${stepHint(name, Number(step))}` }
}

function expand(name: FieldName, text: string): Item | undefined {
  const { min, max } = fields[name]
  // What most items are needs no reading, which takes 25 µs.
  if (text === '*')
    return ofValues(
      name,
      Array.from({ length: max - min + 1 }, (_, index) => min + index),
    )
  if (/^\d+$/.test(text))
    return Number(text) < min || Number(text) > max ? undefined : ofValues(name, [Number(text)])
  const item = text.toUpperCase()
  if (name === 'dayOfMonth' && item === 'L') return { values: [], which: 'last' }
  // Sunday ends the week as well as it begins it.
  const upwards = name === 'dayOfWeek' ? item.replace(/-(?:SUN|0)/, '-7') : item
  const cron = parse(name, upwards)
  if (cron === undefined) return undefined
  // A last day of the week comes as a text: 5L.
  const values = cron[name].values.map((value) => Number.parseInt(String(value), 10))
  return { ...ofValues(name, values), which: name === 'dayOfWeek' ? whichOf(cron.dayOfWeek) : 'each' }
}

const ofValues = (name: FieldName, values: readonly number[]): Item => ({
  values: name === 'dayOfWeek' ? [...new Set(values.map((day) => day % 7))] : values,
  which: 'each',
})

function parse(name: FieldName, item: string) {
  const texts = {
    second: '*',
    minute: '*',
    hour: '*',
    dayOfMonth: '*',
    month: '*',
    dayOfWeek: '*',
    [name]: item,
  }
  try {
    return CronExpressionParser.parse(Object.values(texts).join(' '), { tz: 'UTC', currentDate: new Date(0) })
      .fields
  } catch {
    return undefined
  }
}

function whichOf({ nthDay, hasLastChar }: { nthDay: number; hasLastChar: boolean }): Item['which'] {
  if (hasLastChar) return 'last'
  return nthDay === 0 ? 'each' : nthDay
}

function hintFor(text: string): string {
  if (text === '') return ': a comma stands between two'
  if (/^H(?:[(/]|$)/.test(text)) return ': jitter_seconds spreads the starts'
  const [, low, high] = /^(\d+|[a-z]{3})-(\d+|[a-z]{3})(?:\/|$)/i.exec(text) ?? []
  const isUpwards = low === undefined || Number(low) <= Number(high)
  return isUpwards ? '' : ': a range runs upwards, so 22-2 is written as two, 22-23,0-2'
}

function stepHint(name: FieldName, step: number): string {
  if (name === 'minute') return `: for every ${step} minutes write */${step} as the only field`
  if (name === 'hour') return `: for every ${step} hours write */${step * 60} as the only field`
  return ''
}
