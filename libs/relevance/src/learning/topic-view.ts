import type { BaseIndex, Query } from '../score/base-index.ts'
import type { Postings } from '../score/lexical-index.ts'
import { createPostings } from '../score/lexical-index.ts'
import type { Background } from './background.ts'
import { correctAll, correctOne, drawBackground } from './background.ts'
import type { Lessons, Taught } from './create-lessons.ts'
import type { Learned } from './learn-from.ts'
import { drawAgain, learnFrom, learnedTerms, penalize } from './learn-from.ts'
import { weighGain } from './weigh-gain.ts'

// What the lessons of one topic make of the tools. Worked out when it is first asked for, and then anew for the tools of
// which something was learned; everything here can be thrown away. Of many lessons that takes a while, so it goes in steps,
// between which others may have their turn.

/** The background is drawn again when the lessons have become more or fewer by this: it costs a look at every tool. */
const drawnAgainFrom = 1.2

/** From here on, correcting all tools at once is cheaper than one by one. */
const correctedOneByOneMax = 8

/** Tools with lessons × queries of the background: up to so many it is drawn and looked at anew after every lesson. */
const drawnAlwaysMax = 2_000

type Drawn = { background: Background; lessonCount: number; forgotten: number; generation: number }

export type TopicView = ReturnType<typeof createTopicView>

export function createTopicView(base: BaseIndex, lessons: Lessons, topic: string | null) {
  const overlay = createPostings()
  const learned = new Map<string, Learned>()
  let corrections = new Map<string, number>()
  let drawn: Drawn | null = null
  let seen = { version: Number.NaN, generation: Number.NaN }
  let running: Generator<undefined, void> | null = null

  const isFresh = (): boolean =>
    lessons.stateOf(topic).version === seen.version && base.generation() === seen.generation

  // What it has seen is what was there when it began: whatever came since makes it begin again.
  function* refresh(): Generator<undefined, void> {
    const { version } = lessons.stateOf(topic)
    const generation = base.generation()
    const parts = { learned, corrections, overlay }
    const taughtByTool = lessons.ofTopic(topic)
    const changed = yield* relearn(parts, { base, taughtByTool, everything: generation !== seen.generation })
    const before = drawn
    const now = drawAgainIfStale(before, generation)
    drawn = now
    if (now !== before || changed.length > correctedOneByOneMax) {
      corrections = yield* correctAll(learned, now.background, { base, overlay })
    } else {
      for (const [tool, one] of changed)
        corrections.set(tool, correctOne(tool, one, now.background, { base, overlay }))
    }
    seen = { version, generation }
  }

  const drawAgainIfStale = (before: Drawn | null, generation: number): Drawn => {
    const taughtByTool = lessons.ofTopic(topic)
    const { forgotten } = lessons.stateOf(topic)
    let lessonCount = 0
    for (const [tool, { successes }] of taughtByTool) if (base.has(tool)) lessonCount += successes.length
    if (before !== null && before.forgotten === forgotten && before.generation === generation) {
      const isSmall = learned.size * before.background.asked.length <= drawnAlwaysMax
      const growth = (lessonCount + 1) / (before.lessonCount + 1)
      if (!isSmall && growth < drawnAgainFrom && growth > 1 / drawnAgainFrom) return before
    }
    return { background: drawBackground(taughtByTool, base), lessonCount, forgotten, generation }
  }

  return {
    /** Goes on until then, by `performance.now()`. True when all that was learned is worked out. */
    advance(untilMs: number): boolean {
      while (running !== null || !isFresh()) {
        running ??= refresh()
        if (running.next().done === true) running = null
        else if (performance.now() >= untilMs) return false
      }
      return true
    },
    overlay,
    /** Undefined: nothing was learned of it. */
    learnedVectorOf: (tool: string): Float32Array | undefined => learned.get(tool)?.vector,
    /** What counts of a gain by what was learned, and what is taken off it. */
    weigh(tool: string, query: Query, gain: number): { learned: number; correction: number } {
      const one = learned.get(tool)
      if (one === undefined) return { learned: gain, correction: 0 }
      return weighGain(one, query, { gain, correction: corrections.get(tool) ?? 0 })
    },
    penaltyOf(tool: string, { vector }: Query): number {
      const one = learned.get(tool)
      return one === undefined || vector === null ? 0 : penalize(one, vector)
    },
  }
}

type Parts = { learned: Map<string, Learned>; corrections: Map<string, number>; overlay: Postings }
type Teaching = { base: BaseIndex; taughtByTool: ReadonlyMap<string, Taught>; everything: boolean }

/** Which tools it has learned anew of: those that were taught something, or all where the tools have others vectors. */
function* relearn(
  { learned, corrections, overlay }: Parts,
  { base, taughtByTool, everything }: Teaching,
): Generator<undefined, (readonly [string, Learned])[]> {
  for (const tool of learned.keys()) {
    if (taughtByTool.has(tool) && base.has(tool)) continue
    learned.delete(tool)
    corrections.delete(tool)
    overlay.remove(tool)
  }
  const changed: (readonly [string, Learned])[] = []
  for (const [tool, taught] of taughtByTool) {
    const before = learned.get(tool)
    const isSame = before?.taught === taught
    if (!base.has(tool) || (!everything && isSame)) continue
    const one = isSame ? drawAgain(before, tool, base) : learnFrom(taught, tool, base)
    if (!isSame) overlay.set(tool, learnedTerms(taught))
    learned.set(tool, one)
    changed.push([tool, one])
    yield
  }
  return changed
}
