import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from '@toolyard/db/pool'
import { failure, success } from '../fixtures/outcomes.ts'
import { makeWorld, operator, rowOf, runningOne } from '../fixtures/world.ts'
import type { ClosedInvocation, Within } from './close-rows.ts'
import { finishAll } from './finish.ts'
import { createFinisher } from './finisher.ts'
import { getInvocation } from './get.ts'
import { getRaw } from './get-raw.ts'

const world = await makeWorld()
const { pool, deps } = world
const tool = 'weather'

const running = (count: number) => Promise.all(Array.from({ length: count }, () => runningOne(deps)))

/** What is written with the outcomes, by transaction. */
function noting(): { within: Within; batches: string[][] } {
  const batches: string[][] = []
  const within = async (_sql: Sql, closed: readonly ClosedInvocation[]) =>
    void batches.push(closed.map(({ id }) => id))
  return { within, batches }
}

test('outcomes that arrive together are one transaction, each with its own answer and its own raw output', async () => {
  const holds = await running(12)
  world.effects()
  const { within, batches } = noting()
  const { finish } = createFinisher(deps, within)
  const finished = await Promise.all(
    holds.map((hold, index) => {
      const raw = { stdout: Buffer.from([index, 0, 255]), stderrTail: Buffer.from(`${index}\\"{},null`) }
      return finish({ tool, hold, outcome: index % 3 === 0 ? failure : success, raw })
    }),
  )
  const expected = holds.map((_, index) => (index % 3 === 0 ? 'failed' : 'succeeded'))
  assert.deepEqual(
    finished,
    expected.map((status) => ({ kind: 'closed', status, isRepeated: false })),
  )
  assert.deepEqual(
    batches.map((ids) => ids.toSorted()),
    [holds.map(({ id }) => id).toSorted()],
  )
  assert.deepEqual(world.effects().finished?.toSorted(), holds.map(({ id }) => id).toSorted())
  for (const [index, { id }] of holds.entries()) {
    assert.equal((await getInvocation(pool, operator, id)).status, expected[index])
    const kept = await getRaw(pool, operator, id)
    assert.deepEqual(kept?.stdout, Buffer.from([index, 0, 255]))
    assert.deepEqual(kept?.stderrTail, Buffer.from(`${index}\\"{},null`))
  }
})

test('in one batch each is told its own: closed, put back, lost, repeated', async () => {
  const [closes, again, stolen, twice] = await running(4)
  assert.ok(closes && again && stolen && twice)
  const foreign = { id: stolen.id, token: '00000000-0000-4000-8000-000000000000' }
  const finished = await finishAll(
    deps,
    [
      { hold: closes, outcome: success },
      { hold: again, outcome: { kind: 'stopped' } },
      { hold: foreign, outcome: success },
      { hold: twice, outcome: failure },
      { hold: twice, outcome: success },
      { hold: again, outcome: success },
    ],
    { random: () => 0 },
  )
  assert.deepEqual(finished, [
    { kind: 'closed', status: 'succeeded', isRepeated: false },
    { kind: 'again', delayMs: 0 },
    { kind: 'lost' },
    { kind: 'closed', status: 'failed', isRepeated: false },
    { kind: 'closed', status: 'failed', isRepeated: true },
    { kind: 'lost' },
  ])
  const statuses = await Promise.all([closes, again, stolen, twice].map(({ id }) => rowOf(pool, id)))
  assert.deepEqual(
    statuses.map(({ status }) => status),
    ['succeeded', 'queued', 'running', 'failed'],
  )
  const [repeated] = await finishAll(deps, [{ hold: closes, outcome: failure }])
  assert.deepEqual(repeated, { kind: 'closed', status: 'succeeded', isRepeated: true })
})

test('an outcome that the database refuses keeps no other from being written', async () => {
  const [first, refused, last] = await running(3)
  assert.ok(first && refused && last)
  const within: Within = async (sql, closed) => {
    if (closed.some(({ id }) => id === refused.id)) await sql.query("select 'x'::integer")
  }
  const { finish } = createFinisher(deps, within)
  const [one, other, third] = await Promise.allSettled(
    [first, refused, last].map((hold) => finish({ tool, hold, outcome: success })),
  )
  assert.deepEqual([one?.status, other?.status, third?.status], ['fulfilled', 'rejected', 'fulfilled'])
  assert.equal((await rowOf(pool, refused.id)).status, 'running')
})

test('large outputs are kept whole, whatever goes with them', async () => {
  const holds = await running(5)
  const { finish } = createFinisher(deps)
  const sizes = [10, 1_048_576, 700_000, 600_000, 5]
  await Promise.all(
    holds.map((hold, index) => {
      const raw = { stdout: Buffer.alloc(sizes[index] ?? 0, index), stderrTail: Buffer.alloc(1, 7) }
      return finish({ tool, hold, outcome: success, raw })
    }),
  )
  for (const [index, { id }] of holds.entries())
    assert.ok((await getRaw(pool, operator, id))?.stdout.equals(Buffer.alloc(sizes[index] ?? 0, index)))
})
