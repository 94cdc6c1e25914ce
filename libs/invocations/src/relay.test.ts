import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import type { Queues } from '@toolyard/queue/queues'
import { createQueues } from '@toolyard/queue/queues'
import { prepareQueueSchema } from '@toolyard/queue/schema'
import { testRedisUrl } from '@toolyard/testkit/environment'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { success } from '../fixtures/outcomes.ts'
import { makeTool, makeWorld, rowOf, submissionOf, worker } from '../fixtures/world.ts'
import type { Deps } from './after-commit.ts'
import { createAfterCommit, toJob } from './after-commit.ts'
import { claim } from './claim.ts'
import { finish } from './finish.ts'
import { relay } from './relay.ts'
import { createSubmitter } from './submitter.ts'

const { pool, database } = await makeWorld()
await prepareQueueSchema(pool)

function openQueues(t: TestContext, redisUrl?: string): Queues {
  const queues = createQueues({
    databaseUrl: database.url,
    redisUrl,
    poolMax: 6,
    applicationName: 'relay-test',
    onError: () => {},
    redisPrefix: database.name,
  })
  t.after(() => queues.close())
  return queues
}

function openDeps(t: TestContext, queues: Pick<Queues, 'enqueue'>) {
  const failures: unknown[] = []
  const afterCommit = createAfterCommit({ pool, queues, onFailure: (error) => failures.push(error) })
  t.after(() => afterCommit.settle())
  return { deps: { pool, afterCommit } satisfies Deps, afterCommit, failures }
}

async function submitMany(deps: Deps, tool: string, count: number): Promise<string[]> {
  const { submit } = createSubmitter(deps)
  const answers = await Promise.all(Array.from({ length: count }, () => submit(submissionOf({ tool }))))
  return answers.flatMap((answer) => (answer.kind === 'accepted' ? [answer.invocation.id] : []))
}

const work = (queues: Queues, deps: Deps, seen: string[] = []) =>
  queues.consume(
    'invocations',
    async ({ invocationId, attempt }) => {
      const claimed = await claim(deps, worker, { invocationId, attempt })
      if (claimed.kind === 'waiting' && 'againMs' in claimed) return { again: { delayMs: claimed.againMs } }
      if (claimed.kind !== 'claimed') return { done: true }
      seen.push(invocationId)
      await finish(deps, { hold: claimed.attempt, outcome: success })
      return { done: true }
    },
    { concurrency: 8 },
  )

const isDone = (ids: string[]) => async () => {
  const found = await pool.query("select 1 from invocations where id = any($1) and status = 'succeeded'", [
    ids,
  ])
  return found.rowCount === ids.length
}

for (const backend of ['postgres', 'redis'] as const) {
  test(`what is submitted runs, once each, also over a limit (${backend})`, async (t) => {
    const queues = openQueues(t, backend === 'redis' ? testRedisUrl() : undefined)
    const { deps, failures } = openDeps(t, queues)
    const seen: string[] = []
    const consumer = await work(queues, deps, seen)
    await makeTool(pool, `narrow-${backend}`, { constraints: { concurrency: 3 } })
    const ids = [
      ...(await submitMany(deps, `narrow-${backend}`, 60)),
      ...(await submitMany(deps, 'weather', 40)),
    ]
    await waitUntil('all of them', isDone(ids))
    assert.deepEqual(seen.toSorted(), ids.toSorted())
    await consumer.drain({ timeoutMs: 2_000 })
    assert.deepEqual(failures, [])
  })
}

test('rows that never reached the queue are accepted all the same, and the relay brings them there (I4)', async (t) => {
  const refusing = { enqueue: () => Promise.reject(new Error('the queue is away')) }
  const { deps: cutOff, failures, afterCommit } = openDeps(t, refusing)
  const ids = await submitMany(cutOff, 'weather', 600)
  await afterCommit.settle()
  assert.equal(ids.length, 600)
  assert.ok(failures.length > 0)
  const held = await pool.query("select 1 from invocations where id = any($1) and gate = 'open'", [ids])
  const queues = openQueues(t)
  const { deps } = openDeps(t, queues)
  const relayed = await relay(deps, queues)
  assert.deepEqual(relayed, { admitted: 0, claimable: held.rowCount, added: held.rowCount })
  const consumer = await work(queues, deps)
  await waitUntil('all of them', isDone(ids), 30_000)
  await consumer.drain({ timeoutMs: 2_000 })
  assert.deepEqual(await relay(deps, queues), { admitted: 0, claimable: 0, added: 0 })
})

test('what the queue has already is not added twice', async (t) => {
  const queues = openQueues(t)
  const { deps, afterCommit } = openDeps(t, queues)
  const ids = await submitMany(deps, 'weather', 5)
  await afterCommit.settle()
  for (let turn = 0; turn < 3; turn++) await relay(deps, queues)
  assert.equal((await queues.counts('invocations')).waiting, 5)
  const consumer = await work(queues, deps)
  await waitUntil('all of them', isDone(ids))
  await consumer.drain({ timeoutMs: 2_000 })
})

test('a delayed one starts when its time comes, without the relay', async (t) => {
  const queues = openQueues(t)
  const { deps } = openDeps(t, queues)
  const answer = await createSubmitter(deps).submit(submissionOf({ delayMs: 300 }))
  assert.ok(answer.kind === 'accepted')
  const { id, dueAt } = answer.invocation
  const consumer = await work(queues, deps)
  await waitUntil('it to run', isDone([id]))
  const found = await pool.query('select started_at from invocations where id = $1', [id])
  assert.ok(found.rows[0].started_at >= dueAt)
  await consumer.drain({ timeoutMs: 2_000 })
  assert.equal((await rowOf(pool, id)).attempts, 1)
})

test('a queue that is emptied again and again while work goes on loses nothing and runs nothing twice (I4)', async (t) => {
  const queues = openQueues(t)
  const { deps } = openDeps(t, queues)
  const ids = await submitMany(deps, 'weather', 200)
  const seen: string[] = []
  const consumer = await work(queues, deps, seen)
  let wipes = 0
  await waitUntil(
    'all of them',
    async () => {
      if (wipes < 3) {
        // So that there is work when it is wiped, however fast the rest was done.
        ids.push(...(await submitMany(deps, 'weather', 20)))
        // Waits for nobody: a consumer that looks for jobs locks the tables in another order.
        const wiped = pool.query("set lock_timeout = '50ms'; delete from bullmq.job; reset lock_timeout")
        wipes += await wiped.then(
          () => 1,
          () => 0,
        )
      }
      await relay(deps, queues)
      return wipes === 3 && isDone(ids)()
    },
    30_000,
  )
  await consumer.drain({ timeoutMs: 2_000 })
  assert.deepEqual(seen.toSorted(), ids.toSorted())
})

test("the job of a row that was delayed and the one of its admission do not stand in each other's way", async (t) => {
  const queues = openQueues(t)
  const row = { id: 'inv_00000000000000000000000000', attempt: 2, priority: 5 }
  const jobs = [toJob({ ...row, delayMs: 60_000 }), toJob(row), toJob(row)]
  const before = await queues.counts('invocations')
  await queues.enqueue('invocations', jobs)
  const after = await queues.counts('invocations')
  assert.deepEqual([after.waiting - before.waiting, after.delayed - before.delayed], [1, 1])
})
