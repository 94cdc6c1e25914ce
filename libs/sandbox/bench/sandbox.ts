import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { openEngine } from '../src/docker/open-engine.ts'
import { buildProbeTool } from '../src/fixtures/probe-image.ts'
import { probeSpec } from '../src/fixtures/probe-spec.ts'
import type { Row } from './measure.ts'
import type { Ground } from './ways.ts'
import { byCreateAndStart, byDockerRun, byReuse, fromStock, withSandboxes } from './ways.ts'

export type SandboxReport = {
  cores: number
  /** What the init of a waiting sandbox holds of this machine's memory; unknown where the engine is elsewhere. */
  idleInitBytes: number | undefined
  rows: Row[]
}

const concurrencies = [1, 4, 16]

/** All ways in one run, so that their ratios hold on a machine that others use too. */
export async function benchSandbox(dockerHost: string, calls: number): Promise<SandboxReport> {
  const spec = probeSpec(await buildProbeTool(openEngine(dockerHost)))
  const ground = { dockerHost, instance: `bench-${randomUUID()}`, spec, calls }
  const rows: Row[] = []
  for (const concurrency of concurrencies) {
    for (const way of [byDockerRun, byCreateAndStart, fromStock, byReuse])
      rows.push(await way(ground, concurrency))
  }
  return { cores: availableParallelism(), idleInitBytes: await idleInitBytes(ground), rows }
}

async function idleInitBytes(ground: Ground): Promise<number | undefined> {
  return withSandboxes(ground, 1, async (sandboxes) => {
    const taken = await sandboxes.take(ground.spec, { topic: 'bench' })
    if (taken.kind !== 'taken') throw new Error(`no sandbox: ${JSON.stringify(taken)}`)
    const { State } = await openEngine(ground.dockerHost).getContainer(taken.sandbox.id).inspect()
    const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readStatus(State.Pid))?.[1]
    await taken.sandbox.release()
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1_024
  })
}

function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    // safe to ignore because an engine elsewhere has its processes elsewhere
    return ''
  }
}
