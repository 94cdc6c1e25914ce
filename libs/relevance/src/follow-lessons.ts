import type { Pool } from '@toolyard/db/pool'
import type { Searcher, StoredLesson } from './create-searcher.ts'
import { lessonsMax } from './learning/create-lessons.ts'
import type { Changes } from './rows/read-lessons.ts'
import { firstHorizon, readChanges, readLessonIds, readLessons } from './rows/read-lessons.ts'
import { shareTurns } from './share-turns.ts'

/** Topics whose lessons are in memory, and what these take: what was asked for longest ago gives way. */
const topicsMax = 200
const bytesMaxDefault = 100_663_296
/** Of a lesson, beside its vector: the terms of a usual query, and what holds them. */
const lessonBytes = 900
/** Read and learned in one go, in which nobody else has a turn. */
const batchMax = 100
/** Who was not asked for so long begins anew: it may have missed that something was forgotten. */
const idleMaxMs = 86_400_000

type Topic = { turn: () => Promise<void>; bytes: number; askedAtMs: number; seen: Changes | undefined }

export type FollowLessonsDeps = {
  pool: Pool
  searcher: Searcher
  dimensions: number
  bytesMax?: number
  monotonicMs?: (() => number) | undefined
}

/**
 * Keeps the lessons of a searcher those of the database, topic by topic as they are asked for: nobody has to be told, and
 * nothing that another process has committed before the call is missed.
 */
export function followLessons({
  pool,
  searcher,
  dimensions,
  bytesMax = bytesMaxDefault,
  monotonicMs = () => performance.now(),
}: FollowLessonsDeps) {
  const vectorBytes = dimensions * Float32Array.BYTES_PER_ELEMENT
  const topics = new Map<string, Topic>()

  const read = async (name: string, topic: Topic): Promise<void> => {
    let { seen } = topic
    let changes = await readChanges(pool, name, seen?.horizon ?? firstHorizon)
    if (seen !== undefined && seen.forgotten !== changes.forgotten) {
      seen = undefined
      changes = await readChanges(pool, name, firstHorizon)
    }
    const news = [...changes.changed].filter(([id, by]) => seen?.changed.get(id) !== by).map(([id]) => id)
    if (seen === undefined && topics.get(name) === topic) {
      searcher.forget({ topic: name })
    }
    for (let i = 0; i < news.length; i += batchMax) {
      const lessons = await readLessons(pool, news.slice(i, i + batchMax), dimensions)
      // Given away meanwhile: whoever asks next begins anew.
      if (topics.get(name) !== topic) return
      await learn({ pool, searcher }, name, lessons)
    }
    if (topics.get(name) !== topic) return
    topic.seen = changes
    if (news.length > 0) topic.bytes = searcher.lessonCountOf(name) * (lessonBytes + vectorBytes)
  }

  const touch = (name: string): Topic => {
    const before = topics.get(name)
    const isIdle = before !== undefined && monotonicMs() - before.askedAtMs > idleMaxMs
    const topic = before === undefined || isIdle ? open(name) : before
    topic.askedAtMs = monotonicMs()
    topics.delete(name)
    topics.set(name, topic)
    return topic
  }

  const open = (name: string): Topic => {
    const topic: Topic = {
      turn: shareTurns(() => read(name, topic)),
      bytes: 0,
      askedAtMs: 0,
      seen: undefined,
    }
    return topic
  }

  const makeRoom = (): void => {
    let total = topics.values().reduce((sum, { bytes }) => sum + bytes, 0)
    for (const [name, { bytes }] of topics) {
      if (topics.size <= topicsMax && (total <= bytesMax || topics.size === 1)) return
      topics.delete(name)
      searcher.forget({ topic: name })
      total -= bytes
    }
  }

  return async (name: string): Promise<void> => {
    const topic = touch(name)
    makeRoom()
    await topic.turn()
  }
}

async function learn(
  { pool, searcher }: Pick<FollowLessonsDeps, 'pool' | 'searcher'>,
  topic: string,
  lessons: readonly StoredLesson[],
): Promise<void> {
  const counts = new Map<string, number>()
  for (const { tool } of lessons) counts.set(tool, (counts.get(tool) ?? 0) + 1)
  const full = [...counts.keys()].filter((tool) => {
    const knownCount = searcher.lessonCountOf(topic, tool)
    return knownCount > 0 && knownCount + (counts.get(tool) ?? 0) > lessonsMax
  })
  for (const lesson of lessons) searcher.learn(lesson)
  // What was trimmed away is known by its absence alone: a success that has become a failure since leaves room here for one
  // that is no longer there.
  for (const tool of full) searcher.forget({ topic, tool, keeping: await readLessonIds(pool, topic, tool) })
}
