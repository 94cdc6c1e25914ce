import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { test } from 'node:test'
import { createKey } from '@toolyard/access/create-key'
import type { BuildResult } from '@toolyard/catalog/finish-build'
import type { FoundTool } from '@toolyard/catalog/found-tool'
import { publishScan } from '@toolyard/catalog/publish-scan'
import { readProgress } from '@toolyard/catalog/read-progress'
import { minimalManifest } from '@toolyard/contract/fixtures/minimal-manifest'
import { createPool } from '@toolyard/db/pool'
import { createLogger } from '@toolyard/log/logger'
import type { Queues } from '@toolyard/queue/queues'
import { createQueues } from '@toolyard/queue/queues'
import { prepareQueueSchema } from '@toolyard/queue/schema'
import { testDatabase } from '@toolyard/testkit/database'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { BuildImage, ImageKeeperOptions } from './keep-images.ts'
import { keepImages } from './keep-images.ts'

const built: BuildResult = {
  kind: 'ready',
  imageId: 'sha256:1',
  facts: { entrypoint: ['/a'], volumes: [], warnings: [] },
}
const log = createLogger({ service: 'worker', level: 'debug', destination: { write: () => {} } })

function foundTool(name: string): FoundTool {
  return { name, dir: `/tools/${name}`, manifest: minimalManifest(name), entries: [], hash: `${name}-1` }
}

/** One engine with the tool `a`, whose builds are the test's to end; as many workers as it wants. */
async function openEngine(t: TestContext, names = ['a']) {
  const { pool, url } = await testDatabase()
  await prepareQueueSchema(pool)
  const tools = names.map(foundTool)
  const scan = { tools, faults: [], unsettled: [] }
  await publishScan(pool, { processId: 'w', engineId: 'e1', reload: 0, contentHash: 'c', scan })
  const consumed: string[] = []

  function newQueues(): Queues {
    const queues = createQueues({
      databaseUrl: url,
      poolMax: 6,
      applicationName: 'images-test',
      redisPrefix: 'unused',
      onError: () => {},
    })
    return {
      ...queues,
      consume(queue, handler, options) {
        consumed.push(queue)
        return queues.consume(queue, handler, options)
      },
    }
  }

  return {
    pool,
    url,
    consumed,
    startWorker(build: BuildImage, more: Partial<ImageKeeperOptions> = {}) {
      const queues = newQueues()
      const keeper = keepImages({
        pool,
        locks: pool,
        queues,
        log,
        schemaFits: Promise.resolve(),
        engineId: () => 'e1',
        found: (hash) => tools.find((tool) => tool.hash === hash),
        build,
        concurrency: 2,
        ...more,
      })
      t.after(async () => {
        await keeper.drain()
        await queues.close()
      })
      return keeper
    },
    image: async () => {
      const { rows } = await pool.query<{ state: string; image_id: string | null }>(
        'select state, image_id from images',
      )
      return rows[0]
    },
  }
}

/** Builds that end when the test says so, or when they are cut short. */
function heldBuilds() {
  const begun: { signal: AbortSignal; say: (line: string) => void; end: (result: BuildResult) => void }[] = []
  const build: BuildImage = (_tool, { signal, onProgress }) => {
    const ended = Promise.withResolvers<BuildResult>()
    signal.addEventListener('abort', () => ended.resolve({ kind: 'fault', detail: 'cut short' }))
    begun.push({ signal, say: onProgress, end: ended.resolve })
    return ended.promise
  }
  return { build, begun, first: () => waitUntil('a build begins', () => begun[0]) }
}

test('looks that come together open one consumer, and none is opened after the end', async (t) => {
  const engine = await openEngine(t)
  const keeper = engine.startWorker(async () => built)
  for (let time = 0; time < 10; time++) keeper.look()
  await waitUntil('the image is ready', async () => (await engine.image())?.state === 'ready')
  assert.deepEqual(engine.consumed, ['images-e1'])

  let turns = 0
  const engineId = () => {
    turns += 1
    return 'e1'
  }
  const another = engine.startWorker(async () => built, { engineId })
  another.look()
  const drained = another.drain()
  another.look()
  await drained
  // One after the other: the second turn begins when all that the first does is over.
  for (let look = 0; look < 2; look++) {
    const before = turns
    another.look()
    await waitUntil('it has looked', () => turns > before)
  }
  assert.deepEqual(engine.consumed, ['images-e1'])
})

test('a queue that is wiped in the middle of a build brings no second one, and what waits comes back', async (t) => {
  const engine = await openEngine(t)
  const { build, begun, first } = heldBuilds()
  const workers = [engine.startWorker(build), engine.startWorker(build)]
  const { end } = await first()
  for (let wipe = 0; wipe < 3; wipe++) {
    await engine.pool.query('delete from bullmq.job')
    for (const worker of workers) worker.look()
    await waitUntil('the job is there again', async () => {
      const jobs = await engine.pool.query('select from bullmq.job')
      return (jobs.rowCount ?? 0) > 0
    })
  }
  assert.equal(begun.length, 1)
  end(built)
  await waitUntil('the image is ready', async () => (await engine.image())?.state === 'ready')
  assert.equal(begun.length, 1)
})

test('whoever loses the lock in the middle of a build is cut short, and the build is done again', async (t) => {
  const engine = await openEngine(t)
  const { build, begun, first } = heldBuilds()
  engine.startWorker(build)
  const { signal } = await first()
  await engine.pool.query(`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())`)
  await waitUntil('it is cut short', () => signal.aborted)
  const again = await waitUntil('it is begun again', () => begun[1], 20_000)
  assert.equal((await engine.image())?.state, 'building')
  again.end(built)
  await waitUntil('the image is ready', async () => (await engine.image())?.state === 'ready')
})

test('a worker that ends in the middle of a build leaves it to the next', async (t) => {
  const engine = await openEngine(t)
  const one = heldBuilds()
  const leaving = engine.startWorker(one.build)
  await one.first()
  await leaving.drain()
  assert.equal((await engine.image())?.state, 'building')
  engine.startWorker(async () => built)
  await waitUntil('the image is ready', async () => (await engine.image())?.state === 'ready', 20_000)
})

test('the last line that a build wrote is shown, also when many came at once', async (t) => {
  const engine = await openEngine(t)
  const { build, first } = heldBuilds()
  engine.startWorker(build)
  const { say, end } = await first()
  for (const line of ['Step 1/3', 'Step 2/3', 'Step 3/3']) say(line)
  await waitUntil('the third is shown', async () => (await readProgress(engine.pool, 'a')) === 'Step 3/3')
  end(built)
  await waitUntil('the image is ready', async () => (await engine.image())?.state === 'ready')
  assert.equal(await readProgress(engine.pool, 'a'), null)
})

test('a tool that is removed while it is built does not begin to serve', async (t) => {
  const engine = await openEngine(t)
  const { build, first } = heldBuilds()
  engine.startWorker(build)
  const { end } = await first()
  const scan = { tools: [], faults: [], unsettled: [] }
  await publishScan(engine.pool, { processId: 'w', engineId: 'e1', reload: 0, contentHash: 'd', scan })
  end(built)
  await waitUntil('the image is ready', async () => (await engine.image())?.state === 'ready')
  const { rows } = await engine.pool.query('select current_hash from tools')
  assert.deepEqual(rows, [{ current_hash: null }])
})

test('an engine of another id has a queue and images of its own', async (t) => {
  const engine = await openEngine(t)
  let id: string | undefined = 'e1'
  const builds: string[] = []
  const keeper = engine.startWorker(
    async () => {
      builds.push(id ?? 'none')
      return built
    },
    { engineId: () => id },
  )
  const isReady = (engineId: string) => async () => {
    const found = await engine.pool.query("select from images where engine_id = $1 and state = 'ready'", [
      engineId,
    ])
    return found.rowCount === 1
  }
  await waitUntil('the first has it', isReady('e1'))
  id = undefined
  keeper.look()
  id = 'e2'
  keeper.look()
  await waitUntil('the second has it', isReady('e2'), 20_000)
  id = 'e1'
  keeper.look()
  await waitUntil('the first is back', () => engine.consumed.length === 3, 20_000)
  assert.deepEqual(builds, ['e1', 'e2'])
  assert.deepEqual(engine.consumed, ['images-e1', 'images-e2', 'images-e1'])
})

test('builds that hold locks leave the statements of the worker their connections', async (t) => {
  const engine = await openEngine(t, ['a', 'b'])
  const { build, begun } = heldBuilds()
  const small = createPool({ url: engine.url, max: 1, applicationName: 'small', onIdleError: () => {} })
  t.after(() => small.end())
  engine.startWorker(build, { pool: small })
  await waitUntil('both are built at once', () => begun.length === 2, 8_000)
  for (const { end } of begun) end(built)
  await waitUntil('both are ready', async () => {
    const found = await engine.pool.query("select from images where state = 'ready'")
    return found.rowCount === 2
  })
})

test('who asked for it is told of an image that cannot be built', async (t) => {
  const engine = await openEngine(t)
  const operator = { actor: { kind: 'operator' } } as const
  const { key } = await createKey(engine.pool, operator, { name: 'a', scopes: ['webhooks:manage'] })
  await engine.pool.query(
    `insert into webhooks (id, key_id, url, description, events)
     values ('whk_1', $1, 'https://hooks.example.com/', '', '{tool.image_failed}')`,
    [key.id],
  )
  engine.startWorker(async () => ({ kind: 'error', detail: 'no such base' })).look()
  const row = await waitUntil('the message is written', async () => {
    const { rows } = await engine.pool.query('select tool, event, data from deliveries')
    return rows[0]
  })
  const data = { image_hash: 'a-1', error: 'no such base' }
  assert.deepEqual(row, { tool: 'a', event: 'tool.image_failed', data })
  await waitUntil('its job is in the queue', async () => {
    const jobs = await engine.pool.query("select from bullmq.job where queue = 'deliveries'")
    return jobs.rowCount === 1
  })
})
