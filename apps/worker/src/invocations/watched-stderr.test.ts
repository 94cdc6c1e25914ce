import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listen } from '@toolyard/db/listen'
import type { HeardStderr } from '@toolyard/invocations/stderr-feed'
import { createStderrFeed } from '@toolyard/invocations/stderr-feed'
import { putSettings } from '@toolyard/vault/put-settings'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { openGround, operator } from './fixtures/ground.ts'

const ground = await openGround('postgres')
const canary = 'canary-5ecret-of-the-tool'
const schema = { api_key: { secret: true, required: true } } as const

test('who watches hears a tool of a real worker before its end, and never its secret (I6)', async (t) => {
  await ground.makeTool('talking', { manifest: { config_schema: schema } })
  const call = { actor: operator, requestId: 'req_1' }
  await putSettings(ground.vault, call, { tool: 'talking', schema, values: { api_key: canary } })
  const payloads: string[] = []
  const wishes: string[] = []
  const feed = createStderrFeed({
    pool: ground.pool,
    onFailure: (error) => assert.fail(String(error)),
    renewMs: 50,
  })
  const hears = Object.entries(feed.channels).map(([channel, hear]) => [
    channel,
    (payload: string) => {
      payloads.push(payload)
      hear(payload)
    },
  ])
  const listener = listen({
    url: ground.url,
    applicationName: 'watching',
    channels: {
      ...Object.fromEntries(hears),
      invocations_stderr_wanted: (payload: string) => wishes.push(payload),
    },
    onListening: () => {},
    onError: () => {},
  })
  t.after(async () => {
    await feed.close()
    await listener.close()
  })
  await waitUntil('it to listen', () => listener.isListening())
  const heard: HeardStderr[] = []
  // Waits in the queue until the worker is there to hear that it is watched.
  const watched = await ground.submit('talking', { do: 'leak' }, { delayMs: 1_500 })
  const alone = await ground.submit('talking', { do: 'leak' }, { delayMs: 1_500 })
  feed.watch(watched, (each) => heard.push(each))
  await ground.start(t)
  const one = await ground.final(watched)
  await ground.final(alone)
  assert.equal(one.status, 'succeeded')
  await waitUntil('its words', () => heard.length > 0)
  assert.deepEqual(heard, [{ attempt: 1, text: 'the key is ***\n', isGap: false }])
  assert.ok(wishes.every((wish) => wish === watched))
  assert.ok(payloads.every((payload) => payload.startsWith(watched)))
})
