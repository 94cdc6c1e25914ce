import type { Lesson } from './lesson.ts'

// Everything that was learned, in memory, as it was: nothing is folded into sums, so that all of it can be forgotten.

/** Lessons of each kind kept of a tool in a topic; the oldest give way. */
export const lessonsMax = 64

/** Topics kept; the one that has learned nothing for longest gives way. */
const topicsMax = 500

/** So many terms of a query teach: a whole book pasted into one does not become the text of a tool. */
const termsMax = 64

export type Taught = { successes: readonly Lesson[]; failures: readonly Lesson[] }

/** What is to be forgotten. All that is told must hold; nothing told forgets everything. */
export type Forgetting = {
  tool?: string
  topic?: string | null
  beforeMs?: number
  /** Those that stay whatever else is told. */
  keeping?: ReadonlySet<string>
}

/** Numbers that are others when the topic has changed, and when something of it was forgotten. Of no other topic. */
export type TopicState = { version: number; forgotten: number }

type Topic = TopicState & { tools: Map<string, Taught> }

const nothing: Taught = { successes: [], failures: [] }
const noTools: ReadonlyMap<string, Taught> = new Map()

export type Lessons = ReturnType<typeof createLessons>

export function createLessons() {
  const topics = new Map<string | null, Topic>()
  let changeCount = 0
  let dropCount = 0

  const drop = (name: string | null): void => {
    topics.delete(name)
    dropCount += 1
  }

  // What was learned from last stands last.
  const touch = (name: string | null): Topic => {
    changeCount += 1
    const topic = topics.get(name) ?? { tools: new Map<string, Taught>(), version: 0, forgotten: changeCount }
    topic.version = changeCount
    topics.delete(name)
    topics.set(name, topic)
    const [oldest] = topics.keys()
    if (topics.size > topicsMax && oldest !== undefined) drop(oldest)
    return topic
  }

  const forgetIn = (topic: Topic, tool: string | undefined, goes: (lesson: Lesson) => boolean): void => {
    for (const [name, taught] of topic.tools) {
      if (tool !== undefined && name !== tool) continue
      if (!taught.successes.some(goes) && !taught.failures.some(goes)) continue
      changeCount += 1
      topic.version = changeCount
      topic.forgotten = changeCount
      const left = without(taught, goes)
      if (left.successes.length + left.failures.length === 0) topic.tools.delete(name)
      else topic.tools.set(name, left)
    }
  }

  return {
    /** The same id again, of the same tool and topic, replaces what it taught: feedback corrects a reward. */
    learn(lesson: Lesson): void {
      if (!Number.isFinite(lesson.reward)) throw new RangeError('the reward of a lesson is no number')
      const { tools } = touch(lesson.topic)
      const taught = without(tools.get(lesson.tool) ?? nothing, ({ id }) => id === lesson.id)
      const kind = lesson.reward > 0 ? 'successes' : 'failures'
      const bounded = { ...lesson, terms: lesson.terms.slice(0, termsMax) }
      const kept = insert(taught[kind], bounded).slice(-lessonsMax)
      tools.set(lesson.tool, lesson.reward === 0 ? taught : { ...taught, [kind]: kept })
    },
    forget({ tool, topic: only, beforeMs, keeping }: Forgetting): void {
      const goes = ({ id, atMs }: Lesson) =>
        (beforeMs === undefined || atMs < beforeMs) && keeping?.has(id) !== true
      for (const [name, topic] of topics) {
        if (only !== undefined && name !== only) continue
        forgetIn(topic, tool, goes)
        if (topic.tools.size === 0) drop(name)
      }
    },
    /** Their vectors alone: where those of the index have become others. */
    changeVectors(change: (vector: Float32Array) => Float32Array): void {
      const changed = (lesson: Lesson): Lesson =>
        lesson.vector === null ? lesson : { ...lesson, vector: change(lesson.vector) }
      for (const topic of topics.values()) {
        changeCount += 1
        topic.version = changeCount
        topic.forgotten = changeCount
        for (const [name, { successes, failures }] of topic.tools)
          topic.tools.set(name, { successes: successes.map(changed), failures: failures.map(changed) })
      }
    },
    /** How many there are of a topic, or of a tool in it. */
    countOf(name: string | null, tool?: string): number {
      const tools = topics.get(name)?.tools ?? noTools
      const some = tool === undefined ? [...tools.values()] : [tools.get(tool) ?? nothing]
      return some.reduce((sum, { successes, failures }) => sum + successes.length + failures.length, 0)
    },
    /** By tool. */
    ofTopic: (name: string | null): ReadonlyMap<string, Taught> => topics.get(name)?.tools ?? noTools,
    stateOf: (name: string | null): TopicState =>
      topics.get(name) ?? { version: -1 - dropCount, forgotten: -1 - dropCount },
  }
}

// By their ids at the same time, so that it does not matter in which order they were heard of.
export const byAge = (x: Lesson, y: Lesson): number => x.atMs - y.atMs || (x.id < y.id ? -1 : 1)

/** Mostly the new one is the newest. */
function insert(lessons: readonly Lesson[], one: Lesson): Lesson[] {
  const at = lessons.findLastIndex((other) => byAge(other, one) <= 0)
  return lessons.toSpliced(at + 1, 0, one)
}

function without(taught: Taught, goes: (lesson: Lesson) => boolean): Taught {
  const stays = (lesson: Lesson) => !goes(lesson)
  return { successes: taught.successes.filter(stays), failures: taught.failures.filter(stays) }
}
