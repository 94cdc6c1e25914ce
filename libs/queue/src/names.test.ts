import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueueName } from './names.ts'
import { assertQueueName, imagesQueue } from './names.ts'

test('engine ids of every Docker make a queue name', () => {
  const old = imagesQueue('7TRN:IPZB:QYBB:VPBQ:UMPP:KARE:6ZNR:XE6T:7EWV:PKF4:ZOJD:TPYS')
  const current = imagesQueue('1f7a2c9e-5f0b-4a55-8f3c-2f5a6a1f9d10')
  assert.notEqual(old, current)
  for (const name of [old, current]) assert.doesNotThrow(() => assertQueueName(name))
})

test('a name that is no queue of ours is refused', () => {
  for (const name of ['images', 'invocation', 'toString', '__proto__', 'images-a:b', 'images-a b', '']) {
    // safe because that it is no queue name is what is tested
    assert.throws(() => assertQueueName(name as QueueName), /no queue named/)
  }
})
