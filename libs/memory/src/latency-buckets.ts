// Four buckets to each doubling, from 1 ms to 2^20 ms (17 minutes, more than any tool may run), one below and one
// above. Bucket i > 0 holds from 2^((i-1)/4) ms up to 2^(i/4) ms and is read as its geometric middle: what it tells is
// within 2^(1/8), 9.1 %, of the true value. Below 1 ms it tells 1, above the scale its end.

const perDoubling = 4
const doublings = 20

export const bucketCount = perDoubling * doublings + 2
/** What the database's integer holds. */
export const countMax = 2 ** 31 - 1

export const noLatency: readonly number[] = Array.from({ length: bucketCount }, () => 0)

/** The same buckets with one call more. A count that is full stays as it is. */
export function countLatency(buckets: readonly number[], latencyMs: number): readonly number[] {
  const index = bucketOf(latencyMs)
  return buckets.map((count, at) => (at === index ? Math.min(countMax, count + 1) : count))
}

/** The time that this share of the calls did not exceed. Null where no call was timed. */
export function percentileOf(buckets: readonly number[], share: number): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const rank = Math.max(1, Math.ceil(share * total))
  let seen = 0
  for (const [index, count] of buckets.entries()) {
    seen += count
    if (seen >= rank) return middleOf(index)
  }
  throw new Error('unreachable: the counts add up to the total')
}

export function bucketOf(latencyMs: number): number {
  // Also where the database's clock was set back.
  if (!(latencyMs >= 1)) return 0
  return Math.min(bucketCount - 1, 1 + Math.floor(Math.log2(latencyMs) * perDoubling))
}

function middleOf(index: number): number {
  if (index === 0) return 1
  if (index === bucketCount - 1) return 2 ** doublings
  return 2 ** ((index - 0.5) / perDoubling)
}
