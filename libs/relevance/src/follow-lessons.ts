import type { Pool } from '@toolyard/db/pool'
import type { Searcher } from './create-searcher.ts'
import type { Changes } from './rows/read-lessons.ts'
import { firstHorizon, readChanges, readLessons } from './rows/read-lessons.ts'
import { shareTurns } from './share-turns.ts'

/** Topics whose lessons are in memory, and lessons of all of them together: what was asked for longest ago gives way. */
const topicsMax = 200
const lessonsMax = 20_000

type Topic = { turn: () => Promise<void>; lessonCount: number; seen: Changes | undefined }

export type FollowLessonsDeps = { pool: Pool; searcher: Searcher; dimensions: number }

/**
 * Keeps the lessons of a searcher those of the database, topic by topic as they are asked for: nobody has to be told, and
 * nothing that another process has committed before the call is missed.
 */
export function followLessons({ pool, searcher, dimensions }: FollowLessonsDeps) {
  const topics = new Map<string, Topic>()

  const read = async (name: string, topic: Topic): Promise<void> => {
    let { seen } = topic
    let changes = await readChanges(pool, name, seen?.horizon ?? firstHorizon)
    if (seen !== undefined && seen.forgotten !== changes.forgotten) {
      seen = undefined
      changes = await readChanges(pool, name, firstHorizon)
    }
    const news = [...changes.changed].filter(([id, by]) => seen?.changed.get(id) !== by).map(([id]) => id)
    const lessons = await readLessons(pool, news, dimensions)
    // Given away meanwhile: whoever asks next begins anew.
    if (topics.get(name) !== topic) return
    if (seen === undefined) {
      searcher.forget({ topic: name })
      topic.lessonCount = 0
    }
    for (const lesson of lessons) searcher.learn(lesson)
    topic.lessonCount += lessons.length
    topic.seen = changes
  }

  const touch = (name: string): Topic => {
    const topic = topics.get(name) ?? open(name)
    topics.delete(name)
    topics.set(name, topic)
    return topic
  }

  const open = (name: string): Topic => {
    const topic: Topic = {
      turn: shareTurns(() => read(name, topic)),
      lessonCount: 0,
      seen: undefined,
    }
    return topic
  }

  const makeRoom = (): void => {
    let total = topics.values().reduce((sum, { lessonCount }) => sum + lessonCount, 0)
    for (const [name, { lessonCount }] of topics) {
      if (topics.size <= topicsMax && (total <= lessonsMax || topics.size === 1)) return
      topics.delete(name)
      searcher.forget({ topic: name })
      total -= lessonCount
    }
  }

  return async (name: string): Promise<void> => {
    const topic = touch(name)
    makeRoom()
    await topic.turn()
  }
}
