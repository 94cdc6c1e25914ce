import type { Run } from '../house/open-witness.ts'
import type { Violation } from './check-history.ts'
import { isFinal } from './check-callers.ts'
import type { History, TickHistory } from './history.ts'

const tickEveryMs = 2_000

type Ringing = Pick<History, 'isRinging' | 'ticks' | 'tickRuns'>

/** The clock rang without a gap, no tick came twice, and each is one call that has ended and acted once for an attempt. */
export function checkTicks({ isRinging, ticks, tickRuns }: Ringing): Violation[] {
  const sorted = ticks.toSorted((a, b) => a.atMs - b.atMs)
  const runsOf = Map.groupBy(tickRuns, ({ invocation, attempt }) => `${invocation} ${attempt}`)
  return [
    ...(isRinging && ticks.length === 0 ? [fault('the clock never rang')] : []),
    ...sorted.flatMap((tick, place) => checkGap(sorted[place - 1], tick)),
    ...sorted.flatMap(checkEnd),
    ...(new Set(ticks.map(({ invocation }) => invocation)).size < ticks.length
      ? [fault('two ticks have one invocation')]
      : []),
    ...[...runsOf]
      .filter(([, runs]) => runs.length > 1 || runs.some(({ effects }) => effects > 1))
      .map(([name]) => fault(`attempt ${name} ran twice`)),
    ...ticks.flatMap((tick) => checkEffect(tick, runsOf)),
  ]
}

function checkGap(before: TickHistory | undefined, tick: TickHistory): Violation[] {
  if (before === undefined || tick.atMs - before.atMs === tickEveryMs) return []
  return [fault(`${tick.atMs - before.atMs} ms lie between the ticks ${timeOf(before)} and ${timeOf(tick)}`)]
}

function checkEnd(tick: TickHistory): Violation[] {
  const { fate, invocation, status } = tick
  if (fate !== 'fired' || invocation === null) return [fault(`the tick ${timeOf(tick)} was ${fate}`)]
  if (status !== null && isFinal(status)) return []
  return [fault(`the tick ${timeOf(tick)} has not ended: ${status}`, invocation)]
}

function checkEffect(
  { status, invocation, attempts }: TickHistory,
  runsOf: ReadonlyMap<string, readonly Run[]>,
): Violation[] {
  if (status !== 'succeeded' || invocation === null) return []
  if (runsOf.get(`${invocation} ${attempts}`)?.[0]?.effects === 1) return []
  return [fault(`attempt ${attempts} answered, and its effect was not seen`, invocation)]
}

const fault = (detail: string, id?: string): Violation => ({
  rule: 'ticks',
  ...(id === undefined ? {} : { id }),
  detail,
})

const timeOf = ({ atMs }: TickHistory) => new Date(atMs).toISOString()
