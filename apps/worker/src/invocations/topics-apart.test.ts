import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashBody } from '@toolyard/invocations/hash-body'
import { openGround } from './fixtures/ground.ts'

const ground = await openGround('redis')

const topics = ['north', 'south', 'west']
const callsEach = 25

test('callers of several topics, all at once on reused sandboxes, share no sandbox, no state and no result', async (t) => {
  await ground.makeTool('shared', {
    sandbox: { reuse: 100 },
    manifest: { constraints: { concurrency: 100 } },
  })
  await ground.start(t, { slots: 6 })
  const bodyHash = hashBody({ the: 'same' })
  const calls = Array.from({ length: callsEach }, (_, round) =>
    topics.map((topic) => ({ topic, word: `${topic}-${round}`, round })),
  ).flat()
  const ended = await ground.withCaller((caller) =>
    Promise.all(
      calls.map(async ({ topic, word, round }) => {
        // Each topic has a key of its own; what they call their requests is the same.
        const id = await caller.submit(
          'shared',
          { do: 'remember', arg: word },
          { topic, keyId: topic, idempotency: { key: `request-${round}`, bodyHash } },
        )
        return { id, topic, word, one: await ground.final(id) }
      }),
    ),
  )
  assert.equal(new Set(ended.map(({ id }) => id)).size, calls.length, 'no request became that of another key')
  for (const { one, topic, word } of ended)
    assert.deepEqual([one.status, one.topic, one.result?.text], ['succeeded', topic, `${word};`])

  const { rows } = await ground.pool.query<{ container: string; topics: string[]; calls: number }>(
    `select container_id as container, array_agg(distinct topic) as topics, count(*)::integer as calls
     from attempts join invocations on invocations.id = attempts.invocation_id
     where tool = 'shared' group by container_id`,
  )
  assert.ok(
    rows.every((row) => row.topics.length === 1),
    JSON.stringify(rows),
  )
  for (const topic of topics)
    assert.ok(
      rows.some((row) => row.topics[0] === topic && row.calls > 1),
      `${topic} reused a sandbox: ${JSON.stringify(rows)}`,
    )
})
