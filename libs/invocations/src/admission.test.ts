import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from '@toolyard/db/pool'
import { transaction } from '@toolyard/db/transaction'
import { waitUntil } from '@toolyard/testkit/wait-until'
import { failure, success } from '../fixtures/outcomes.ts'
import {
  claimOne,
  makeTool,
  makeWorld,
  operator,
  passTime,
  rowOf,
  setSlots,
  submissionOf,
  submitOne,
  worker,
} from '../fixtures/world.ts'
import { lockTools } from './admit.ts'
import { admitWaiting } from './admit-waiting.ts'
import { cancel } from './cancel.ts'
import { claim } from './claim.ts'
import { expire } from './expire.ts'
import { finish } from './finish.ts'
import { getInvocation } from './get.ts'
import { createSubmitter } from './submitter.ts'

const world = await makeWorld()
const { pool, deps } = world

const gatesOf = async (tool: string) => {
  const found = await pool.query(
    "select gate, count(*)::int as n from invocations where tool = $1 and gate <> 'closed' group by gate",
    [tool],
  )
  return Object.fromEntries(found.rows.map((row) => [row.gate, row.n]))
}

/** A tool with one slot, which is taken, and rows that wait for it. */
async function crowd(tool: string, priorities: number[]) {
  await makeTool(pool, tool, { constraints: { concurrency: 1 } })
  const first = await claimOne(deps, (await submitOne(deps, { tool })).id)
  const ids: string[] = []
  for (const priority of priorities) ids.push((await submitOne(deps, { tool, priority })).id)
  world.effects()
  return { first, ids }
}

test('rows over the limit of their tool are held outside the queue, and say so', async () => {
  const { ids } = await crowd('narrow', [5, 5])
  assert.deepEqual(world.effects().jobs, [])
  assert.deepEqual(await gatesOf('narrow'), { open: 1, held: 2 })
  assert.equal((await getInvocation(pool, operator, ids[0] ?? '')).waitingFor, 'concurrency limit')
  const claimed = await claim(deps, worker, { invocationId: ids[0] ?? '', attempt: 1 })
  assert.deepEqual(claimed, { kind: 'waiting', reason: 'concurrency limit' })
})

test('a batch takes the slots that are there, the highest priority first', async () => {
  await makeTool(pool, 'batch', { constraints: { concurrency: 2 } })
  const { submit } = createSubmitter(deps)
  const answers = await Promise.all(
    [1, 9, 5, 9].map((priority) => submit(submissionOf({ tool: 'batch', priority }))),
  )
  const waiting = answers.map((answer) => answer.kind === 'accepted' && answer.invocation.waitingFor)
  assert.deepEqual(waiting, ['concurrency limit', null, 'concurrency limit', null])
})

test('whoever frees a slot admits the next by priority, then by age', async () => {
  const { first, ids } = await crowd('turns', [1, 5, 9, 5])
  const order: string[] = []
  let hold = first
  for (let turn = 0; turn < 4; turn++) {
    await finish(deps, { hold, outcome: success })
    const [job] = world.effects().jobs
    assert.ok(job !== undefined && job.endsWith('-1'))
    order.push(job.slice(0, -2))
    hold = await claimOne(deps, job.slice(0, -2))
  }
  assert.deepEqual(order, [ids[2], ids[1], ids[3], ids[0]])
})

test('a cancel, an expiry and a retry that waits free their slots too', async () => {
  const { first, ids } = await crowd('frees', [5, 5, 5])
  await finish(deps, { hold: first, outcome: success })
  assert.deepEqual(world.effects().jobs, [`${ids[0]}-1`])
  await cancel(deps, operator, { id: ids[0] ?? '' })
  assert.deepEqual(world.effects().jobs, [`${ids[1]}-1`])
  await passTime(pool, ids[1] ?? '', 4_000)
  await expire(deps)
  assert.deepEqual(world.effects().jobs, [`${ids[2]}-1`])

  await makeTool(pool, 'retrying', { constraints: { concurrency: 1, retries: 1 } })
  const retried = await claimOne(deps, (await submitOne(deps, { tool: 'retrying' })).id)
  const next = await submitOne(deps, { tool: 'retrying' })
  world.effects()
  await finish(deps, { hold: retried, outcome: failure })
  assert.deepEqual(world.effects().jobs, [`${retried.id}-2-due`, `${next.id}-1`])
  await passTime(pool, retried.id, 60)
  const early = await claim(deps, worker, { invocationId: retried.id, attempt: 2 })
  assert.deepEqual(early, { kind: 'waiting', reason: 'concurrency limit' })
  await cancel(deps, operator, { id: next.id })
  assert.equal((await claim(deps, worker, { invocationId: retried.id, attempt: 2 })).kind, 'claimed')
})

test('cancelling a row that is held or delayed admits nobody', async () => {
  const { ids } = await crowd('quiet', [5, 5])
  await cancel(deps, operator, { id: ids[0] ?? '' })
  const delayed = await submitOne(deps, { tool: 'quiet', delayMs: 5_000 })
  world.effects()
  await cancel(deps, operator, { id: delayed.id })
  assert.deepEqual(world.effects().jobs, [])
  assert.deepEqual(await gatesOf('quiet'), { open: 1, held: 1 })
})

test('with a limit of 2, 20 workers and a stream of submits, no more than 2 ever run and none is left behind', async () => {
  await makeTool(pool, 'two', { constraints: { concurrency: 2, retries: 1 } })
  const queue: { id: string; attempt: number }[] = []
  const shared = {
    pool,
    afterCommit: {
      run: (effects: { jobs?: readonly { id: string; attempt: number }[] }) =>
        void queue.push(...(effects.jobs ?? [])),
    },
  }
  const { submit } = createSubmitter(shared)
  const wanted = 120
  let closed = 0
  let mostOpen = 0

  async function work(): Promise<void> {
    while (closed < wanted) {
      const job = queue.shift()
      if (job === undefined) {
        await pool.query('select 1')
        continue
      }
      const claimed = await claim(shared, worker, { invocationId: job.id, attempt: job.attempt })
      if (claimed.kind === 'waiting' && claimed.reason === 'delayed') {
        // The second that a retry is put off must not be waited for.
        await passTime(pool, job.id, 2)
        queue.push(job)
      }
      if (claimed.kind !== 'claimed') continue
      const { rows } = await pool.query(
        "select count(*)::int as n from invocations where tool = 'two' and gate = 'open'",
      )
      mostOpen = Math.max(mostOpen, rows[0].n)
      const isFlaky = claimed.attempt.attempt === 1 && claimed.attempt.id.charCodeAt(20) % 3 === 0
      const finished = await finish(shared, { hold: claimed.attempt, outcome: isFlaky ? failure : success })
      if (finished.kind === 'closed') closed += 1
    }
  }

  const submitting = Array.from({ length: wanted }, () => submit(submissionOf({ tool: 'two' })))
  await Promise.all([...submitting, ...Array.from({ length: 20 }, work)])
  assert.equal(mostOpen, 2)
  assert.deepEqual(await gatesOf('two'), {})
})

test('20 finishes and 20 submits of one tool at once never pass its limit nor forget a row', async () => {
  await makeTool(pool, 'storm', { constraints: { concurrency: 20 } })
  const { submit } = createSubmitter(deps)
  const make = () => submit(submissionOf({ tool: 'storm' }))
  const first = await Promise.all(Array.from({ length: 40 }, make))
  const openIds = first.flatMap((one) =>
    one.kind === 'accepted' && one.invocation.waitingFor === null ? [one.invocation.id] : [],
  )
  assert.equal(openIds.length, 20)
  const holds = await Promise.all(openIds.map((id) => claimOne(deps, id)))
  const others = Array.from({ length: 3 }, () => createSubmitter(deps))
  await Promise.all([
    ...holds.map((hold) => finish(deps, { hold, outcome: success })),
    ...others.flatMap((other) =>
      Array.from({ length: 10 }, () => other.submit(submissionOf({ tool: 'storm' }))),
    ),
  ])
  assert.deepEqual(await gatesOf('storm'), { open: 20, held: 30 })
})

test('a tool without a limit gets half of the live slots, one at least; when they grow the held are admitted', async () => {
  await makeTool(pool, 'plain')
  await setSlots(pool, 0)
  for (let i = 0; i < 6; i++) await submitOne(deps, { tool: 'plain' })
  assert.deepEqual(await gatesOf('plain'), { open: 1, held: 5 })
  await setSlots(pool, 9)
  world.effects()
  assert.equal(await admitWaiting(deps), 3)
  assert.deepEqual(await gatesOf('plain'), { open: 4, held: 2 })
  await pool.query("update workers set seen_at = clock_timestamp() - interval '31 seconds'")
  assert.equal(await admitWaiting(deps), 0, 'the dead have no slots')
  await setSlots(pool, 1_000)
})

test('a delayed row whose job was lost is found when it is due', async () => {
  const { id } = await submitOne(deps, { delayMs: 60_000 })
  await admitWaiting(deps)
  assert.equal((await rowOf(pool, id)).gate, 'delayed')
  await passTime(pool, id, 60)
  world.effects()
  await admitWaiting(deps)
  assert.equal((await rowOf(pool, id)).gate, 'open')
  assert.ok(world.effects().jobs.includes(`${id}-1`))
})

test('a slot that is freed while another process is holding a row goes to that row', async () => {
  const { first } = await crowd('crash', [])
  const client = await pool.connect()
  await client.query('begin')
  await client.query("select 1 from tools where name = 'crash' for no key update")
  await client.query(
    `insert into invocations (id, tool, topic, status, gate, priority, due_at, not_before, expires_at, submitted_hash)
     values ('inv_held', 'crash', 't', 'queued', 'held', 5, now(), now(), now() + interval '1 h', 'crash-1')`,
  )
  const finishing = finish(deps, { hold: first, outcome: success })
  await waitUntil('the finish to wait for the lock', async () => {
    const waiting = await pool.query(
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    )
    return waiting.rowCount === 1
  })
  await client.query('commit')
  client.release()
  await finishing
  assert.equal((await rowOf(pool, 'inv_held')).gate, 'open')
})

test('a row that is just being cancelled is passed over, and its slot goes to the next', async () => {
  const { first, ids } = await crowd('passed', [9, 5])
  const client = await pool.connect()
  await client.query('begin')
  await client.query('select 1 from invocations where id = $1 for no key update', [ids[0]])
  await finish(deps, { hold: first, outcome: success })
  await client.query('rollback')
  client.release()
  assert.deepEqual(world.effects().jobs, [`${ids[1]}-1`])
})

test('a process that is stopped with the lock of a tool keeps it for seconds', async () => {
  const shown = async (sql: Sql) => (await sql.query('show idle_in_transaction_session_timeout')).rows
  const inside = await transaction(pool, async (sql) => {
    await lockTools(sql, ['weather'])
    return shown(sql)
  })
  assert.deepEqual(inside, [{ idle_in_transaction_session_timeout: '5s' }])
  assert.deepEqual(await shown(pool), [{ idle_in_transaction_session_timeout: '30s' }])
})

test('submits of many processes at once, and claims of many rows whose time has come, do not pass the limit together', async () => {
  await makeTool(pool, 'few', { constraints: { concurrency: 3 } })
  const make = (delayMs: number) => submitOne(deps, { tool: 'few', delayMs })
  const delayed = await Promise.all(Array.from({ length: 20 }, () => make(60_000)))
  for (const { id } of delayed) await passTime(pool, id, 60)
  const job = ({ id }: { id: string }) => ({ invocationId: id, attempt: 1 })
  const claimed = await Promise.all(delayed.map((one) => claim(deps, worker, job(one))))
  assert.equal(claimed.filter(({ kind }) => kind === 'claimed').length, 3)
  assert.deepEqual(await gatesOf('few'), { open: 3, held: 17 })

  await makeTool(pool, 'many', { constraints: { concurrency: 3 } })
  await Promise.all(Array.from({ length: 40 }, () => submitOne(deps, { tool: 'many' })))
  assert.deepEqual(await gatesOf('many'), { open: 3, held: 37 })
})
