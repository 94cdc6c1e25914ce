/** Some time in which the clock of a zone runs without being changed. */
export type Span = {
  readonly fromMs: number
  /** Where the next begins. */
  readonly toMs: number
  /** What the clock shows less UTC. */
  readonly offsetMs: number
  /** The same just before the span. Equal, if no clock was changed there and only a year begins. */
  readonly offsetBeforeMs: number
}

// A change and the next, which may undo it, are further apart: six days and 23 hours are the least since 1970 (Boa Vista
// in October 2000).
const stepMs = 2 * 86_400_000

/** What becomes of a clock from `startMs` to `endMs`. */
export function spansOf(offsetAt: (atMs: number) => number, startMs: number, endMs: number): Span[] {
  const spans: Span[] = []
  let fromMs = startMs
  let offsetBeforeMs = offsetAt(startMs - 1_000)
  let offsetMs = offsetAt(startMs)
  let atMs = startMs
  while (atMs < endMs) {
    const aheadMs = Math.min(atMs + stepMs, endMs)
    if (offsetAt(aheadMs) === offsetMs) {
      atMs = aheadMs
      continue
    }
    const toMs = changeBetween(offsetAt, atMs, aheadMs)
    // Then it is the beginning of what follows.
    if (toMs === endMs) break
    spans.push({ fromMs, toMs, offsetMs, offsetBeforeMs })
    offsetBeforeMs = offsetMs
    fromMs = toMs
    atMs = toMs
    offsetMs = offsetAt(toMs)
  }
  return [...spans, { fromMs, toMs: endMs, offsetMs, offsetBeforeMs }]
}

/** The first second that has another offset than `sameMs`. */
function changeBetween(offsetAt: (atMs: number) => number, sameMs: number, otherMs: number): number {
  const offsetMs = offsetAt(sameMs)
  let [low, high] = [sameMs, otherMs]
  while (high - low > 1_000) {
    const middle = low + Math.floor((high - low) / 2_000) * 1_000
    if (offsetAt(middle) === offsetMs) low = middle
    else high = middle
  }
  return high
}
