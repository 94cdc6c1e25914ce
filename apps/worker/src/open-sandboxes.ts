import { createDockerSandboxes } from '@toolyard/sandbox/create-docker-sandboxes'
import type { Sandboxes } from '@toolyard/sandbox/sandboxes'
import { toSandboxPolicy } from '@toolyard/sandbox/to-sandbox-policy'
import type { ToolNetwork } from '@toolyard/sandbox/tool-network'
import { readToolNetwork } from '@toolyard/sandbox/tool-network'
import type { Part } from '@toolyard/service/part'
import { countStock } from './count-stock.ts'
import type { WorkerContext } from './start-worker.ts'

type Opened = { sandboxes: Sandboxes; egressFilter: Part }

/** The sandboxes of this worker, under what the operator allows. */
export async function openSandboxes(context: WorkerContext, dockerHost: string): Promise<Opened> {
  const { config, log, metrics, processId } = context
  const network = await readToolNetwork(dockerHost, config.instance).catch((error: unknown) => {
    log.warn('the network for tools cannot be read: tools that ask for one are refused', { error })
    return undefined
  })
  const sandboxes = createDockerSandboxes({
    dockerHost,
    instance: config.instance,
    worker: processId,
    policy: toSandboxPolicy(config, network),
    onEvent: countStock(metrics),
    onStuck: (stuck) => log.warn('a sandbox could not be removed; the next sweep tries again', { stuck }),
  })
  return { sandboxes, egressFilter: describeFilter(network) }
}

function describeFilter(network: ToolNetwork | undefined): Part {
  if (network === undefined) return { state: 'off', detail: 'there is no network for tools on this engine' }
  if (network.egressFilter === 'on') return { state: 'on' }
  return { state: 'off', detail: 'tools with a network reach the engine’s host and private addresses' }
}
