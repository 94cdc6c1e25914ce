import type { SandboxPolicy } from './docker/container-profile.ts'
import type { ToolNetwork } from './tool-network.ts'

/** The operator's settings, as they are read. */
export type Allowances = {
  runtime?: string | undefined
  allowHostNetwork: boolean
  allowWritable: boolean
  allowRoot: boolean
}

/** What tools may on an engine that has this network for them, or none. */
export function toSandboxPolicy(
  { runtime, allowHostNetwork, allowWritable, allowRoot }: Allowances,
  network: Pick<ToolNetwork, 'name'> | undefined,
): SandboxPolicy {
  return {
    ...(runtime === undefined ? {} : { runtime }),
    ...(network === undefined ? {} : { bridge: network.name }),
    allowHostNetwork,
    allowWritable,
    allowRoot,
  }
}
