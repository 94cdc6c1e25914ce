/** Calls per second as seen lately: each call counts less the longer it is ago. */
export type ArrivalRate = { perSecond: number; at: number }

const fadeSeconds = 30

export function rateAt(rate: ArrivalRate, now: number): number {
  return rate.perSecond * Math.exp(-Math.max(0, now - rate.at) / 1_000 / fadeSeconds)
}

export function countArrival(rate: ArrivalRate, now: number): ArrivalRate {
  return { perSecond: rateAt(rate, now) + 1 / fadeSeconds, at: now }
}
