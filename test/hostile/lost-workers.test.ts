import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { openEngine } from '@toolyard/sandbox/open-engine'
import { testDockerHost } from '@toolyard/testkit/environment'
import { waitUntil } from '@toolyard/testkit/wait-until'
import type { Arena } from './fixtures/arena.ts'
import { openArena } from './fixtures/arena.ts'

// Workers that go away in the middle of everything, with tools that would rather stay.

const inFlight = 50
const docker = openEngine(testDockerHost())

let arena: Arena
before(async () => {
  arena = await openArena({ dockerHost: testDockerHost() })
})
after(() => arena?.close())

for (const signal of ['SIGKILL', 'SIGSTOP'] as const)
  test(`${inFlight} tools of a worker hit by ${signal} are dead within 10 s, and a restart sweeps all of it`, async (t) => {
    // More are asked for than are waited for: some are still being made when the worker goes.
    const words = [
      testDockerHost(),
      arena.instance,
      String(inFlight + 10),
      JSON.stringify(arena.specOf('linger.py')),
    ]
    const file = join(import.meta.dirname, 'fixtures/busy-worker.ts')
    const worker = spawn(process.execPath, [file, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => worker.kill('SIGKILL'))
    const running = new Set<string>()
    createInterface({ input: worker.stdout }).on('line', (id) => running.add(id))
    await waitUntil('them to run', () => running.size >= inFlight, 120_000)
    worker.kill(signal)
    const alive = async () => {
      const containers = await containersOf('doomed', ['running'])
      return containers.filter(({ Names }) => running.has(Names[0]?.slice(1) ?? ''))
    }
    await waitUntil('them to die', async () => (await alive()).length === 0, 10_000)
    // What the engine was still making for it appears a little later.
    await waitUntil('nothing of it to be left', async () => {
      const { stuck } = await arena.sandboxes.sweep(new Set(['w1', 'w2']))
      assert.deepEqual(stuck, [])
      return (await containersOf('doomed')).length === 0
    })
    worker.kill('SIGKILL')
  })

async function containersOf(worker: string, status?: string[]) {
  const label = [`toolyard.instance=${arena.instance}`, `toolyard.worker=${worker}`]
  return docker.listContainers({ all: true, filters: { label, ...(status && { status }) } })
}
