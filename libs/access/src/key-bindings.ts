import { AppError } from '@toolyard/contract/errors'
import type { AccessKey } from './access-key.ts'

/** Whether the key may see and touch what belongs to this topic. A key without topics is not bound. */
export function mayUseTopic(key: AccessKey, topic: string): boolean {
  return key.topics === null || key.topics.includes(topic)
}

export function mayUseTool(key: AccessKey, tool: string): boolean {
  return key.tools === null || key.tools.includes(tool)
}

/** The topic of a call that names none. */
export function defaultTopic(key: AccessKey): string {
  if (key.topics === null) return `key:${key.id}`
  const [only, ...others] = key.topics
  if (only === undefined || others.length > 0) {
    throw new AppError('topic_required', 'This key is bound to several topics: name one of them in "topic"', {
      faults: [{ pointer: '/topic', detail: 'is required for this key' }],
    })
  }
  return only
}
