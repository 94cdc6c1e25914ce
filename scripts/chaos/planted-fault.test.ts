import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { createProgress } from '../services/terminal/progress.ts'
import { plannedCall } from './fixtures/planned-call.ts'
import { openChaosGround } from './open-ground.ts'
import type { ChaosGround } from './open-ground.ts'
import { runPlan } from './run-plan.ts'

// What makes the fault: all attempts of one invocation have the same token, so that whoever holds an old one passes for
// the holder of the new one. Nothing else changes.
const withoutTokenCheck = `
  create function same_token() returns trigger language plpgsql as $$
  begin
    new.attempt_token := md5(new.id)::uuid;
    return new;
  end $$;
  create trigger same_token before update on invocations for each row
  when (new.topic = 'seed-1-planted' and new.attempt_token is not null)
  execute function same_token()`

// A worker that wakes waits 9 s for what it started to be dead before it writes: the second run must last longer.
const runMs = 20_000
const secondClaimMs = 60_000

test('a worker that wakes when another has its calls changes nothing (I2); without the token check it does, and the checker sees it', async (t) => {
  const ground = await openChaosGround({
    queue: 'postgres',
    apis: 1,
    dockerHost: testDockerHost(),
    progress: createProgress(() => {}),
  })
  t.after(() => ground.close({ keepLogs: false }))
  await ground.house.pool.query(withoutTokenCheck)
  const calls = Array.from({ length: 8 }, (_, index) => callOf(index))
  const plan = { seed: 1, calls, faults: [], absences: [], isRinging: false }
  const [ran] = await Promise.all([runPlan(ground, plan), sleepTooLong(ground)])
  const topicOf = new Map(ran.history.rows.map(({ id, topic }) => [id, topic]))
  const broken = ran.violations.map(({ rule, id, detail }) => ({
    rule,
    topic: topicOf.get(id ?? ''),
    detail,
  }))
  t.diagnostic(JSON.stringify(broken))
  const again = ran.history.rows.filter(({ attempts }) => attempts > 1).map(({ topic }) => topic)
  assert.deepEqual([...new Set(again)].toSorted(), ['seed-1-control', 'seed-1-planted'])
  assert.deepEqual(
    broken.filter(({ topic }) => topic !== 'seed-1-planted'),
    [],
  )
  assert.ok(broken.some(({ rule }) => rule === 'I2' || rule === 'I5'))
})

const callOf = (index: number) =>
  plannedCall({
    index,
    tool: 'chaos_slow',
    topic: index % 2 === 0 ? 'seed-1-control' : 'seed-1-planted',
    params: { ms: runMs, failures: 0 },
  })

/** Stops the worker that runs most of them, and wakes it when others run them again. */
async function sleepTooLong({ house }: ChaosGround): Promise<void> {
  const allRun = async () => (await house.pool.query<{ count: number }>(running)).rows[0]?.count === 8
  await waitUntil('all to run', allRun, secondClaimMs)
  const { rows } = await house.pool.query<{ pid: number }>(busiest)
  const worker = house.workers.find((one) => one.pid() === rows[0]?.pid)
  assert.ok(worker !== undefined)
  worker.signal('SIGSTOP')
  const runAgain = async () => {
    const found = await house.pool.query<{ topics: number }>(second)
    return found.rows[0]?.topics === 2
  }
  await waitUntil('its calls to run again', runAgain, secondClaimMs).finally(() => worker.signal('SIGCONT'))
}

const isPlanned = "one.topic like 'seed-1-%'"

const running = `
  select count(*)::integer as count
  from attempts as try join invocations as one on one.id = try.invocation_id
  where ${isPlanned} and try.handed_over_at is not null`

const busiest = `
  select process.pid
  from attempts as try
  join invocations as one on one.id = try.invocation_id
  join processes as process on process.id = try.worker_id
  where ${isPlanned}
  group by process.id, process.pid
  order by count(distinct one.topic) desc, count(*) desc limit 1`

const second = `
  select count(distinct one.topic)::integer as topics
  from attempts as try join invocations as one on one.id = try.invocation_id
  where ${isPlanned} and try.attempt = 2 and try.handed_over_at is not null and try.ended_at is null`
