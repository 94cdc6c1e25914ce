/** Why there is a tick: its time has come, somebody wanted one now, or one that did not run is made up for. */
export type Origin = 'schedule' | 'manual' | 'backfill'

export type Fate = 'fired' | 'buffered' | 'skipped' | 'missed'

/** What became of a tick. */
export type Tick = {
  tool: string
  tickAt: Date
  origin: Origin
  fate: Fate
  /** Why it did not run. */
  reason: string | null
  invocationId: string | null
}

/** A tick that is to run. `isBuffered`: it has waited, and its row is there. */
export type Start = { tickAt: Date; origin: Origin; isBuffered: boolean }

/** A tick that is not to run now. */
export type Rest = Start & { fate: Exclude<Fate, 'fired'>; reason: string | null }

export const toTick = (tool: string, { tickAt, origin, fate, reason }: Rest): Tick => ({
  tool,
  tickAt,
  origin,
  fate,
  reason,
  invocationId: null,
})

export const rested = (
  { tickAt, origin, isBuffered }: Start,
  fate: Rest['fate'],
  reason: string | null,
): Rest => ({ tickAt, origin, isBuffered, fate, reason })
