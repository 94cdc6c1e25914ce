import type { AccessKey } from '@toolyard/access/access-key'
import { defaultTopic, mayUseTopic } from '@toolyard/access/key-bindings'
import { AppError } from '@toolyard/contract/errors'
import { isPlatformTopic } from '@toolyard/contract/keys'

/** The topic that a key means by this, once it may use it. */
export function resolveTopic(key: AccessKey, topic: string | undefined): string {
  if (topic === undefined) return defaultTopic(key)
  // The platform's own topics are nobody's to name, not even those of the key itself: leaving it out means the same.
  if (isPlatformTopic(topic) || !mayUseTopic(key, topic))
    throw new AppError('not_found', 'There is no such topic')
  return topic
}
