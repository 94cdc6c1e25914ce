import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { containerProfile } from '../src/docker/container-profile.ts'
import { createDockerSandboxes } from '../src/docker/create-docker-sandboxes.ts'
import { openEngine } from '../src/docker/open-engine.ts'
import { strictPolicy } from '../src/fixtures/probe-spec.ts'
import type { RunRequest, Sandboxes, SandboxSpec } from '../src/sandboxes.ts'
import type { Row } from './measure.ts'
import { measure } from './measure.ts'

// The same tool, which does nothing, run in four ways.

export type Ground = {
  dockerHost: string
  /** The label of everything that the bench makes. */
  instance: string
  spec: SandboxSpec
  calls: number
}

// A reused sandbox answers so much faster that it takes more calls to see how long one takes.
const reusedFactor = 50

const request: RunRequest = {
  payload: 'exit 0',
  env: {},
  timeoutMs: 9_000,
  stdoutMaxBytes: 1_048_576,
  stderrMaxBytes: 262_144,
}

export async function byDockerRun(ground: Ground, concurrency: number): Promise<Row> {
  const execute = promisify(execFile)
  const words = ['--host', ground.dockerHost, 'run', '--rm', '--network', 'none', ground.spec.image]
  return measure('docker run', concurrency, ground.calls, async () => {
    await execute('docker', [...words, request.payload])
  })
}

/** The payload as the container's command: it exists only here, for comparison. */
export async function byCreateAndStart(ground: Ground, concurrency: number): Promise<Row> {
  const { instance, spec, calls, dockerHost } = ground
  const docker = openEngine(dockerHost)
  const labels = { instance, worker: 'bench', tool: 'bench', image: spec.image }
  const made = containerProfile(spec, strictPolicy, labels, 2_000_000_000)
  if (made.kind === 'refused') throw new Error(made.detail)
  const body = { ...made.body, Entrypoint: [...spec.entrypoint], Cmd: [request.payload] }
  return measure('create and start', concurrency, calls, async () => {
    const container = await docker.createContainer(body)
    const stream = await container.attach({ stream: true, stdout: true, stderr: true })
    stream.resume()
    const ended = container.wait({ condition: 'next-exit' })
    await container.start()
    await ended
    await container.remove({ v: true })
  })
}

/** Filled beforehand with one for each call; taking one away is part of the rate, not of what a caller waits for. */
export async function fromStock(ground: Ground, concurrency: number): Promise<Row> {
  const { spec, calls } = ground
  return withSandboxes(ground, calls, async (sandboxes) => {
    sandboxes.stock(spec, calls)
    while (sandboxes.counts().ready < calls) await new Promise(setImmediate)
    sandboxes.stock(spec, 0)
    return measure('from stock', concurrency, calls, async () => {
      const sandbox = await runOnce(sandboxes, spec)
      if (sandbox.source !== 'stock') throw new Error(`a sandbox came ${sandbox.source}, not from stock`)
      return () => sandbox.release()
    })
  })
}

export async function byReuse(ground: Ground, concurrency: number): Promise<Row> {
  const spec = { ...ground.spec, reuse: 1_000_000 }
  return withSandboxes(ground, 0, async (sandboxes) => {
    const call = async () => (await runOnce(sandboxes, spec)).release()
    await Promise.all(Array.from({ length: concurrency }, call))
    return measure('reused', concurrency, ground.calls * reusedFactor, call)
  })
}

export async function withSandboxes<T>(
  { dockerHost, instance }: Ground,
  poolMax: number,
  work: (sandboxes: Sandboxes) => Promise<T>,
): Promise<T> {
  const sandboxes = createDockerSandboxes({
    dockerHost,
    instance,
    worker: 'bench',
    policy: strictPolicy,
    onStuck: console.error,
    isCoreWanted: () => false,
    limits: { poolMax, refillsMax: 4 },
  })
  try {
    return await work(sandboxes)
  } finally {
    await sandboxes.close()
  }
}

async function runOnce(sandboxes: Sandboxes, spec: SandboxSpec) {
  const taken = await sandboxes.take(spec, { topic: 'bench' })
  if (taken.kind !== 'taken') throw new Error(`no sandbox: ${JSON.stringify(taken)}`)
  const outcome = await taken.sandbox.run(request)
  if (outcome.kind !== 'exited') throw new Error(`a run ended ${outcome.kind}`)
  return taken.sandbox
}
