// What a call costs its tool's budget. A tool that tells what remains (`budget_remaining`) has spent what that has
// fallen by; a call that tells nothing costs 1.
//
// Calls end in another order than the one in which they were told their number, so a number may be old:
// - one higher than the lowest seen is a refill only if its call began after that lowest was seen; else it is old;
// - once a refill was seen, the numbers of calls that began before that may be from before the refill.
// Old numbers are ignored. Nothing is lost by it: what remains falls by every call, so the next number tells of theirs.

/** Whatever a tool writes, what it has spent stays a number that can be added to and shown. */
const amountMax = 1e15

export type Budget = {
  /** Null: the tool has never told. */
  remaining: number | null
  seenAt: Date | null
  refilledAt: Date | null
  /** The UTC day, `YYYY-MM-DD`, that `spent` belongs to. */
  day: string | null
  spent: number
}

export const noBudget: Budget = { remaining: null, seenAt: null, refilledAt: null, day: null, spent: 0 }

export type PaidCall = {
  startedAt: Date
  finishedAt: Date
  isSuccess: boolean
  /** What the tool said remains. */
  remaining: number | null
}

export function spend(budget: Budget, call: PaidCall): Budget {
  const { cost, ...seen } = read(budget, call)
  const day = utcDayOf(call.finishedAt)
  // It ended before midnight and is written after one that ended later: that day is over.
  if (budget.day !== null && day < budget.day) return { ...budget, ...seen }
  const spentBefore = day === budget.day ? budget.spent : 0
  return { ...budget, ...seen, day, spent: Math.min(amountMax, spentBefore + cost) }
}

/** What was spent on the day of `now`. */
export const spentOn = (budget: Pick<Budget, 'day' | 'spent'>, now: Date) =>
  budget.day === utcDayOf(now) ? budget.spent : 0

const utcDayOf = (at: Date) => at.toISOString().slice(0, 10)

export const nextUtcDay = (at: Date) =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1))

type Reading = Partial<Pick<Budget, 'remaining' | 'seenAt' | 'refilledAt'>> & { cost: number }

function read({ remaining: lowest, seenAt, refilledAt }: Budget, call: PaidCall): Reading {
  if (call.remaining === null || !Number.isFinite(call.remaining)) {
    // A tool that keeps its own account tells of a call that failed with the next number.
    return { cost: lowest !== null && !call.isSuccess ? 0 : 1 }
  }
  const { remaining } = call
  if (lowest === null || seenAt === null) return { cost: 0, remaining, seenAt: call.finishedAt }
  if (remaining > lowest) {
    if (call.startedAt <= seenAt) return { cost: 0 }
    return { cost: 0, remaining, seenAt: call.finishedAt, refilledAt: call.finishedAt }
  }
  if (refilledAt !== null && call.startedAt <= refilledAt) return { cost: 0 }
  return { cost: lowest - remaining, remaining, seenAt: seenAt > call.finishedAt ? seenAt : call.finishedAt }
}
