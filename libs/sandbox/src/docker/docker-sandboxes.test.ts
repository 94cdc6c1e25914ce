import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { testDockerHost } from '@toolyard/testkit/environment'
import { openProxy } from '@toolyard/testkit/open-proxy'
import type { Rig } from '../contract/rig.ts'
import { testContract } from '../contract/suite.ts'
import { watchVolumes } from '../fixtures/watch-volumes.ts'
import { buildProbeTool } from '../fixtures/probe-image.ts'
import { probeSpec, strictPolicy } from '../fixtures/probe-spec.ts'
import { createDockerSandboxes } from './create-docker-sandboxes.ts'
import { openEngine } from './open-engine.ts'

// Exceptions: none.

const docker = openEngine(testDockerHost())
const tool = buildProbeTool(docker)

async function makeRig(): Promise<Rig> {
  const instance = randomUUID()
  const proxy = await openProxy(testDockerHost())
  const probe = probeSpec(await tool)
  const filters = { label: [`toolyard.instance=${instance}`] }
  const containers = () => docker.listContainers({ all: true, filters })
  return {
    probe,
    missingImage: `sha256:${'0'.repeat(64)}`,
    open: (options) =>
      createDockerSandboxes({ ...options, dockerHost: proxy.url, instance, policy: strictPolicy }),
    async list() {
      const all = await containers()
      return all.map(({ Names, State }) => ({ id: Names[0]?.slice(1) ?? '', isAlive: State === 'running' }))
    },
    kill: (id) => docker.getContainer(id).kill(),
    watchLeftovers: () => watchVolumes(docker),
    cut: () => proxy.cut(),
    mend: () => proxy.mend(),
    close: () => proxy.close(),
    async records(id) {
      const inspected = await docker.getContainer(id).inspect()
      const logs = await docker.getContainer(id).logs({ stdout: true, stderr: true }).catch(String)
      return [JSON.stringify(inspected), JSON.stringify(await containers()), String(logs)].join('\n')
    },
    startWorker(name, payload) {
      const file = join(import.meta.dirname, '../fixtures/hold-run.ts')
      const words = [file, testDockerHost(), instance, name, JSON.stringify(probe), payload]
      return spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    },
  }
}

testContract(makeRig)
