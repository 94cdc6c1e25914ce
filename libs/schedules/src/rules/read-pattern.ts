import type { Pattern } from './pattern.ts'
import type { FieldName, Item } from './read-item.ts'
import { readItem } from './read-item.ts'

const fieldNames: readonly FieldName[] = ['second', 'minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek']

/** Five fields of a pattern, or six with the seconds first. Each faulty field is told of once. */
export function readPattern(fields: readonly string[]): { pattern: Pattern } | { details: string[] } {
  const texts = fields.length === 5 ? ['0', ...fields] : fields
  const details: string[] = []
  const itemsOf = new Map<FieldName, Item[]>()
  for (const [index, name] of fieldNames.entries()) {
    const read = (texts[index] ?? '').split(',').map((text) => readItem(name, text))
    const fault = read.find((one) => 'detail' in one)
    if (fault !== undefined) details.push(fault.detail)
    itemsOf.set(
      name,
      read.filter((one) => 'values' in one),
    )
  }
  return details.length > 0 ? { details } : { pattern: patternOf((name) => itemsOf.get(name) ?? []) }
}

function patternOf(itemsOf: (name: FieldName) => readonly Item[]): Pattern {
  const sorted = (name: FieldName) =>
    [...new Set(itemsOf(name).flatMap(({ values }) => values))].toSorted((a, b) => a - b)
  const daysOfMonth = itemsOf('dayOfMonth')
  const daysOfWeek = itemsOf('dayOfWeek')
  const days = new Set(sorted('dayOfMonth'))
  const weekdays = daysOfWeek.flatMap(({ values, which }) => values.map((day) => ({ day, which })))
  const isEachWeekday =
    new Set(weekdays.filter(({ which }) => which === 'each').map(({ day }) => day)).size === 7
  return {
    seconds: sorted('second'),
    minutes: sorted('minute'),
    hours: sorted('hour'),
    months: new Set(sorted('month')),
    ofMonth: days.size === 31 ? undefined : { days, last: daysOfMonth.some(({ which }) => which === 'last') },
    ofWeek: isEachWeekday ? undefined : weekdays,
  }
}
