import type { Schedule } from './schedule.ts'

/** What the clock of a schedule's zone shows at a time, as 2026-03-29T03:00:00+02:00. */
export function localTime({ zone }: Schedule, at: Date): string {
  const { offsetMs } = zone.spanAt(at.getTime())
  const shown = new Date(at.getTime() + offsetMs).toISOString().slice(0, 19)
  const minutes = Math.abs(offsetMs) / 60_000
  const ahead = `${twoDigits(minutes / 60)}:${twoDigits(minutes % 60)}`
  return `${shown}${offsetMs < 0 ? '-' : '+'}${ahead}`
}

const twoDigits = (value: number) => String(Math.floor(value)).padStart(2, '0')
