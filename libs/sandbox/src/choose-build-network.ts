import { callEngine } from './docker/engine-error.ts'
import { openEngine } from './docker/open-engine.ts'
import { readToolNetwork } from './tool-network.ts'

const callTimeoutMs = 10_000

/**
 * The network of RUN steps: the one for tools, with its filter, where this installation has one; else the engine's own
 * bridge; on an engine that has neither, none.
 */
export async function chooseBuildNetwork(dockerHost: string, instance: string): Promise<string> {
  const ours = await readToolNetwork(dockerHost, instance)
  if (ours !== undefined) return ours.name
  const docker = openEngine(dockerHost)
  const networks = await callEngine(callTimeoutMs, (abortSignal) => docker.listNetworks({ abortSignal }))
  return networks.some(({ Name, Driver }) => Name === 'bridge' && Driver === 'bridge') ? 'default' : 'none'
}
