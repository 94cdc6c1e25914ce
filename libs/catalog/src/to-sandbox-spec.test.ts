import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manifest } from '@toolyard/contract/manifest'
import { toRunRequest, toSandboxSpec } from './to-sandbox-spec.ts'

const image = { id: 'sha256:1', entrypoint: ['bash', '/tool/runner.sh'], volumes: ['/data'] }

const tool = (more: object = {}) =>
  manifest.parse({
    name: 'greet',
    description: 'Greets',
    trigger: { type: 'on_demand' },
    parameters: {},
    returns: {},
    ...more,
  })

test('a manifest that says nothing gets the documented sandbox', () => {
  assert.deepEqual(toSandboxSpec(tool(), image), {
    tool: 'greet',
    image: 'sha256:1',
    entrypoint: ['bash', '/tool/runner.sh'],
    input: 'argument',
    volumes: ['/data'],
    memoryBytes: 268_435_456,
    cpus: 1,
    network: 'bridge',
    writable: false,
    reuse: 1,
  })
})

test('every wish of a manifest reaches the sandbox, and the user is the one that the image resolved', () => {
  const wishes = { memory: '1g', cpus: 0.5, network: 'none', reuse: 20, user: 'app' }
  const spec = toSandboxSpec(tool({ input: 'stdin', sandbox: wishes }), {
    ...image,
    user: { uid: 1000, gid: 7 },
  })
  const { memoryBytes, cpus, network, reuse, user, input } = spec
  assert.deepEqual(
    { memoryBytes, cpus, network, reuse, user, input },
    {
      memoryBytes: 1_073_741_824,
      cpus: 0.5,
      network: 'none',
      reuse: 20,
      user: { uid: 1000, gid: 7 },
      input: 'stdin',
    },
  )
  assert.equal(toSandboxSpec(tool({ sandbox: { writable: true } }), image).writable, true)
})

test('a run has the limits of the manifest and tells the tool which call and which attempt it is', () => {
  const call = { payload: 'e30=', invocation: 'inv_1', attempt: 2 }
  // In floating point 1.1 seconds are a little more than 1100 ms.
  const request = toRunRequest(tool({ constraints: { timeout_seconds: 1.1 } }), call)
  assert.deepEqual(request, {
    payload: 'e30=',
    env: { TOOLYARD_INVOCATION_ID: 'inv_1', TOOLYARD_ATTEMPT: '2' },
    timeoutMs: 1_100,
    stdoutMaxBytes: 1_048_576,
    stderrMaxBytes: 262_144,
  })
  assert.equal(toRunRequest(tool(), call).timeoutMs, 9_000)
})
