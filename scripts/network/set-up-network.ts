import { join } from 'node:path'
import type { EgressException } from '@toolyard/config/egress-allow'
import type { Ipv4Range } from '@toolyard/config/ipv4-range'
import { overlaps, parseIpv4Range } from '@toolyard/config/ipv4-range'
import type { ToolNetwork } from '@toolyard/sandbox/tool-network'
import {
  createToolNetwork,
  listOtherSubnets,
  readToolNetwork,
  removeToolNetworks,
} from '@toolyard/sandbox/tool-network'
import { Failure } from '../services/terminal/failure.ts'
import { isRoot } from '../services/machine/is-root.ts'
import { withLock } from '../services/installation/lock.ts'
import { chooseSubnet } from './choose-subnet.ts'
import type { InstalledFilter } from './filter.ts'
import { closeBridge, installFilter, removeFilter, whyNoFilter } from './filter.ts'
import { machineFolder, stopForwarding } from './forwarding.ts'
import { findLink, readResolvers, readRoutes } from './host-network.ts'
import { networkNames } from './network-names.ts'
import type { ClosedChain } from './other-firewalls.ts'
import { readPassage } from './pass-other-firewalls.ts'
import { runProgram } from './run-program.ts'

export type NetworkPlace = {
  /** The installation's. */
  id: string
  dockerHost: string
  allow: readonly EgressException[]
}

export type ToolNetworkState = {
  network: ToolNetwork
  /** Why the filter is off. */
  reason?: string
  /** Present where the filter is on. */
  filter?: InstalledFilter
  /** What may keep tools from the network altogether. */
  warning?: string
}

export const machineLock = join(machineFolder, 'network.lock')
export const machineTurn = { waitMs: 60_000, what: 'Another Toolyard sets up its network' }

/** The network for tools, filtered where this host is the engine's and lets us. Changes nothing that is as it has to be. */
export async function setUpNetwork(place: NetworkPlace): Promise<ToolNetworkState> {
  const reason = await whyUnfiltered(place.dockerHost)
  if (reason !== undefined) return { network: await provideNetwork(place, 'off'), reason }
  // One installation at a time: two that choose at the same moment would choose the same.
  return withLock(machineLock, machineTurn, () => setUpFiltered(place))
}

async function setUpFiltered(place: NetworkPlace): Promise<ToolNetworkState> {
  const names = networkNames(place.id)
  const resolvers = readResolvers()
  const taken = await takenRanges(place, names.bridge, resolvers)
  const existing = await readToolNetwork(place.dockerHost, place.id)
  const isKept = existing !== undefined && isFree(existing.subnet, taken)
  const subnet = isKept ? existing.subnet : chooseSubnet(place.id, taken)
  if (subnet === undefined)
    throw new Failure('Every block of addresses that the network for tools could have is taken by a route')
  const filter = await installFilter({ names, subnet, allow: place.allow, resolvers })
  const network = await provideNetwork(place, 'on', subnet)
  // The one proof that the engine is on this host: its bridge is here, too.
  if ((await findLink(names.bridge)) !== undefined) {
    await closeBridge(names)
    const { closed } = await readPassage(names.bridge)
    return {
      network,
      filter,
      ...(closed.length > 0 ? { warning: describeClosed(names.bridge, closed) } : {}),
    }
  }
  await removeFilter(names)
  await stopForwarding()
  return { network: await provideNetwork(place, 'off'), reason: 'the engine runs on another host' }
}

function describeClosed(bridge: string, closed: readonly ClosedChain[]): string {
  const chains = closed.map(({ family, table, chain }) => `${family} ${table} ${chain}`).join(', ')
  return `a firewall of this host drops what is forwarded (${chains}): let it pass for the link ${bridge}, or tools reach nothing`
}

async function provideNetwork(
  { id, dockerHost }: NetworkPlace,
  egressFilter: 'on' | 'off',
  subnet?: string,
): Promise<ToolNetwork> {
  const { network: name, bridge } = networkNames(id)
  const existing = await readToolNetwork(dockerHost, id)
  const isRight =
    existing?.name === name &&
    existing.bridge === bridge &&
    existing.egressFilter === egressFilter &&
    (subnet === undefined || existing.subnet === subnet)
  const isBridgeHere = egressFilter === 'off' || (await findLink(bridge)) !== undefined
  if (isRight && isBridgeHere) return existing
  await removeToolNetworks(dockerHost, id)
  // An engine that was killed leaves its bridge, and a new one would take it over with its old address.
  if (egressFilter === 'on' && (await findLink(bridge)) !== undefined)
    await runProgram('ip', ['link', 'delete', 'dev', bridge])
  return createToolNetwork(dockerHost, {
    name,
    bridge,
    egressFilter,
    instance: id,
    ...(subnet === undefined ? {} : { subnet }),
  })
}

async function takenRanges(
  { id, dockerHost, allow }: NetworkPlace,
  bridge: string,
  resolvers: readonly string[],
): Promise<Ipv4Range[]> {
  const [routes, subnets] = await Promise.all([readRoutes(bridge), listOtherSubnets(dockerHost, id)])
  const named = [...subnets, ...resolvers].flatMap((text) => parseIpv4Range(text) ?? [])
  return [...routes, ...named, ...allow.map(({ range }) => range)]
}

function isFree(subnet: string, taken: readonly Ipv4Range[]): boolean {
  const range = parseIpv4Range(subnet)
  return range !== undefined && !taken.some((other) => overlaps(other, range))
}

async function whyUnfiltered(dockerHost: string): Promise<string | undefined> {
  if (!isNearby(dockerHost)) return 'the engine runs on another host'
  if (!isRoot()) return 'only root may install its rules'
  return whyNoFilter()
}

function isNearby(dockerHost: string): boolean {
  const { protocol, hostname } = new URL(dockerHost)
  return protocol === 'unix:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
