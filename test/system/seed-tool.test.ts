import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { addInit } from '@toolyard/sandbox/add-init'
import { createDockerSandboxes } from '@toolyard/sandbox/create-docker-sandboxes'
import { openEngine } from '@toolyard/sandbox/open-engine'
import type { SandboxSpec } from '@toolyard/sandbox/sandboxes'
import { testDockerHost } from '@toolyard/testkit/environment'
import { buildImage, prepareDebian, readInit } from '../fixtures/build-image.ts'

// A tool of the shape that people already have: bash and jq, the payload as one argument in base64, JSON on stdout.

const shellBase = join(import.meta.dirname, '../../tools/_base/shell')
const tool = join(import.meta.dirname, 'fixtures/seed-tool')

const payloadOf = (payload: object) => Buffer.from(JSON.stringify(payload)).toString('base64')

test('a bash and jq tool runs unchanged on the shell base', async (t) => {
  const dockerHost = testDockerHost()
  const docker = openEngine(dockerHost)
  const instance = `seed-${randomUUID()}`
  const base = 'toolyard-test/shell-base'
  await buildImage(docker, shellBase, ['Dockerfile'], {
    t: base,
    buildargs: { DEBIAN: await prepareDebian(dockerHost, 'shell') },
  })
  await buildImage(docker, tool, ['Dockerfile', 'runner.sh'], {
    t: 'toolyard-test/seed-tool:source',
    buildargs: { BASE: base },
  })
  const names = { image: 'toolyard-test/seed-tool:source', target: 'toolyard-test/seed-tool:latest' }
  const added = await addInit(docker, { ...names, init: await readInit(), instance, worker: 'seed' })
  assert(added.kind === 'added', JSON.stringify(added))
  assert.deepEqual(added.image.warnings, [])

  const sandboxes = createDockerSandboxes({
    dockerHost,
    instance,
    worker: 'seed',
    policy: { allowHostNetwork: false, allowWritable: false, allowRoot: false },
    onStuck: (stuck) => assert.fail(JSON.stringify(stuck)),
  })
  t.after(() => sandboxes.close())
  const spec: SandboxSpec = {
    tool: 'seed-tool',
    image: added.image.id,
    entrypoint: added.image.entrypoint,
    input: 'argument',
    volumes: [],
    memoryBytes: 268_435_456,
    cpus: 1,
    network: 'none',
    writable: false,
    reuse: 1,
  }
  const answers = [
    [{ params: { name: 'Ada' }, settings: {}, telemetry: { city: 'Turin' } }, 'Hello, Ada! How is Turin?'],
    [{ params: {}, settings: {}, telemetry: { city: null } }, 'Hello, World!'],
    [{ params: { name: '"$(id)" \n ü' }, settings: {}, telemetry: {} }, 'Hello, "$(id)" \n ü!'],
  ] as const
  for (const [payload, text] of answers) {
    const taken = await sandboxes.take(spec, { topic: 'seed' })
    assert(taken.kind === 'taken', JSON.stringify(taken))
    const outcome = await taken.sandbox.run({
      payload: payloadOf(payload),
      env: {},
      timeoutMs: 9_000,
      stdoutMaxBytes: 1_048_576,
      stderrMaxBytes: 262_144,
    })
    await taken.sandbox.release()
    assert.equal(outcome.kind, 'exited', outcome.stderrTail.toString())
    assert.deepEqual(JSON.parse(outcome.stdout.toString()), { text })
  }
})
