import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { testDockerHost } from '@toolyard/testkit/environment'
import { chooseBuildNetwork } from './choose-build-network.ts'
import { openEngine } from './docker/open-engine.ts'
import { createToolNetwork, removeToolNetworks } from './tool-network.ts'

const dockerHost = testDockerHost()

test("what an author's Dockerfile runs is on the tools' network where there is one", async (t) => {
  const instance = randomUUID()
  const docker = openEngine(dockerHost)
  const networks = await docker.listNetworks()
  const isBare = networks.every(({ Name }) => Name !== 'bridge')
  assert.equal(await chooseBuildNetwork(dockerHost, instance), isBare ? 'none' : 'default')
  const name = `toolyard-test-${instance.slice(0, 8)}`
  t.after(() => removeToolNetworks(dockerHost, instance))
  await createToolNetwork(dockerHost, {
    name,
    bridge: `ty${instance.slice(0, 8)}`,
    egressFilter: 'off',
    instance,
  })
  assert.equal(await chooseBuildNetwork(dockerHost, instance), name)
})
