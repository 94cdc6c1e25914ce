import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimOne, makeTool, makeWorld, passTime, rowOf, submitOne, worker } from '../fixtures/world.ts'
import { claim } from './claim.ts'

const world = await makeWorld()
const { pool, deps } = world

const tryClaim = async (id: string, attempt = 1, engineId = worker.engineId) => {
  const claimed = await claim(deps, { ...worker, engineId }, { invocationId: id, attempt })
  return claimed.kind === 'claimed' ? claimed.kind : claimed.reason
}

test('a claim gives all that a worker needs, and notes the attempt', async () => {
  const { id } = await submitOne(deps, { params: { city: 'Żejtun' } })
  world.effects()
  const attempt = await claimOne(deps, id)
  const { token, leaseUntil, createdAt, queueMs, manifest, ...rest } = attempt
  assert.match(token, /^[0-9a-f-]{36}$/)
  assert.equal(manifest.constraints.timeout_seconds, 9)
  assert.ok(queueMs >= 0 && queueMs < 60_000)
  assert.ok(leaseUntil.getTime() - createdAt.getTime() >= 30_000)
  assert.deepEqual(rest, {
    id,
    tool: 'weather',
    topic: 'trip',
    keyId: 'k1',
    attempt: 1,
    hash: 'weather-1',
    imageId: 'sha256:weather-1',
    imageFacts: { entrypoint: ['/run'] },
    params: { city: 'Żejtun' },
    telemetry: { lat: null },
  })
  assert.deepEqual(world.effects().started, [id])
  const noted = await pool.query(
    'select attempt, worker_id, engine_id, ended_at from attempts where invocation_id = $1',
    [id],
  )
  assert.deepEqual(noted.rows, [{ attempt: 1, worker_id: 'worker-1', engine_id: 'engine-1', ended_at: null }])
})

test('of 50 claims of one row at once, one gets it (I1, I3)', async () => {
  const { id } = await submitOne(deps)
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => tryClaim(id)))
  assert.equal(outcomes.filter((outcome) => outcome === 'claimed').length, 1)
  assert.equal(outcomes.filter((outcome) => outcome === 'not_queued').length, 49)
  assert.equal((await rowOf(pool, id)).attempts, 1)
})

test('a job of another attempt, of a running row or of none takes nothing', async () => {
  const { id } = await submitOne(deps)
  assert.equal(await tryClaim(id, 2), 'other_attempt')
  assert.equal(await tryClaim(id), 'claimed')
  assert.equal(await tryClaim(id), 'not_queued')
  assert.equal(await tryClaim('inv_00000000000000000000000000'), 'gone')
})

test('while the switch is off or the tool disabled or removed, rows wait and the job comes back within a second', async () => {
  const { id } = await submitOne(deps)
  const states = [
    ["update switches set is_on = false where name = 'tools_enabled'", 'update switches set is_on = true'],
    ["update tools set enabled = false where name = 'weather'", 'update tools set enabled = true'],
    ["update tools set removed_at = now() where name = 'weather'", 'update tools set removed_at = null'],
  ] as const
  for (const [off, on] of states) {
    await pool.query(off)
    const claimed = await claim(deps, worker, { invocationId: id, attempt: 1 })
    assert.deepEqual(claimed, { kind: 'waiting', reason: 'tools_disabled', againMs: 1_000 })
    await pool.query(on)
  }
  assert.deepEqual(await rowOf(pool, id), { ...(await rowOf(pool, id)), status: 'queued', attempts: 0 })
  assert.equal(await tryClaim(id), 'claimed')
})

test('a row waits until the image is ready on the engine of who asks, and costs no attempt', async () => {
  await makeTool(pool, 'young', { image: 'building' })
  const { id } = await submitOne(deps, { tool: 'young' })
  assert.equal(await tryClaim(id), 'image building')
  await pool.query(
    `update images set state = 'ready', image_id = 'sha256:y', facts = '{}' where tool = 'young'`,
  )
  assert.equal(await tryClaim(id), 'image building', 'the tool does not serve this version yet')
  await pool.query("update tools set current_hash = wanted_hash where name = 'young'")
  assert.equal(await tryClaim(id, 1, 'engine-2'), 'image building')
  assert.equal(await tryClaim(id), 'claimed')
})

test('what runs is the version that serves at the claim, unless the invocation is bound to one', async () => {
  await makeTool(pool, 'moving')
  const free = await submitOne(deps, { tool: 'moving' })
  const bound = await submitOne(deps, { tool: 'moving', pinnedHash: 'moving-1' })
  await makeTool(pool, 'moving', { hash: 'moving-2' })
  assert.equal((await claimOne(deps, free.id)).hash, 'moving-2')
  assert.equal((await claimOne(deps, bound.id)).hash, 'moving-1')
})

test('a delayed row is not claimed before its time, and then its job claims it', async () => {
  const { id } = await submitOne(deps, { delayMs: 60_000 })
  const early = await claim(deps, worker, { invocationId: id, attempt: 1 })
  assert.ok(early.kind === 'waiting' && early.reason === 'delayed')
  assert.ok(early.againMs > 50_000 && early.againMs <= 60_001)
  await passTime(pool, id, 60)
  assert.equal(await tryClaim(id), 'claimed')
  assert.equal((await rowOf(pool, id)).gate, 'open')
})

test('a row whose time to live is over is not claimed', async () => {
  const { id } = await submitOne(deps, { ttlMs: 1_000 })
  await passTime(pool, id, 2)
  assert.equal(await tryClaim(id), 'expired')
})

test('claiming and renewing write no index', async () => {
  const updates = async () => {
    await pool.query('select pg_stat_force_next_flush()')
    const found = await pool.query(
      "select n_tup_upd::int as updates, n_tup_hot_upd::int as hot from pg_stat_user_tables where relname = 'invocations'",
    )
    return found.rows[0]
  }
  const client = await pool.connect()
  try {
    await client.query('vacuum invocations')
  } finally {
    client.release()
  }
  const ids = await Promise.all(Array.from({ length: 10 }, async () => (await submitOne(deps)).id))
  const before = await updates()
  for (const id of ids) await claimOne(deps, id)
  const after = await updates()
  assert.ok(after.updates - before.updates <= 10)
  assert.equal(after.hot - before.hot, after.updates - before.updates)
})

test('a switch that goes on and off under the claims loses no row: it is claimed, or its job comes back', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, async () => (await submitOne(deps)).id))
  const over = new AbortController()
  async function flicker(): Promise<void> {
    for (let turn = 0; !over.signal.aborted; turn++) {
      await pool.query("update switches set is_on = $1 where name = 'tools_enabled'", [turn % 2 === 0])
    }
    await pool.query('update switches set is_on = true')
  }
  const flickering = flicker()
  await Promise.all(
    ids.map(async (id) => {
      for (;;) {
        const claimed = await claim(deps, worker, { invocationId: id, attempt: 1 })
        if (claimed.kind === 'claimed') return
        assert.ok('againMs' in claimed, JSON.stringify(claimed))
      }
    }),
  )
  over.abort()
  await flickering
})
