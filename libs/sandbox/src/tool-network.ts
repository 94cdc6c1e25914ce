import type Docker from 'dockerode'
import type { NetworkInspectInfo } from 'dockerode'
import { callEngine } from './docker/engine-error.ts'
import { instanceLabel } from './docker/image-labels.ts'
import { openEngine } from './docker/open-engine.ts'

// The network for tools that ask for one, as the engine has it. What filters it stands in its labels, so that whoever
// talks to the engine can read it there; a label cannot change, so a network whose filter changes is made anew.

export type ToolNetwork = {
  id: string
  name: string
  /** The link on the engine's host. */
  bridge: string
  subnet: string
  /** Off: the engine's host does not keep tools from its own addresses and from private ones. */
  egressFilter: 'on' | 'off'
}

export type WantedToolNetwork = Pick<ToolNetwork, 'name' | 'bridge' | 'egressFilter'> & {
  instance: string
  /** Absent: the engine chooses. */
  subnet?: string
}

const filterLabel = 'toolyard.egress_filter'
const bridgeOption = 'com.docker.network.bridge.name'
const betweenContainersOption = 'com.docker.network.bridge.enable_icc'
const callTimeoutMs = 10_000

/** The network of this installation on that engine, if it is made as it has to be. */
export async function readToolNetwork(
  dockerHost: string,
  instance: string,
): Promise<ToolNetwork | undefined> {
  const found = await listOurs(openEngine(dockerHost), instance)
  return found.map(asToolNetwork).find((network) => network !== undefined)
}

export async function createToolNetwork(dockerHost: string, wanted: WantedToolNetwork): Promise<ToolNetwork> {
  const docker = openEngine(dockerHost)
  const body = {
    Name: wanted.name,
    Driver: 'bridge',
    CheckDuplicate: true,
    EnableIPv6: false,
    Labels: { [instanceLabel]: wanted.instance, [filterLabel]: wanted.egressFilter },
    Options: { [bridgeOption]: wanted.bridge, [betweenContainersOption]: 'false' },
    ...(wanted.subnet === undefined ? {} : { IPAM: { Config: [{ Subnet: wanted.subnet }] } }),
  }
  await callEngine(callTimeoutMs, (abortSignal) => docker.createNetwork({ ...body, abortSignal }))
  const created = await readToolNetwork(dockerHost, wanted.instance)
  if (created === undefined)
    throw new Error(`the engine did not make the network ${wanted.name} as asked for`)
  return created
}

/** Removes this installation's networks, with whatever still hangs on them cut off. Returns how many there were. */
export async function removeToolNetworks(dockerHost: string, instance: string): Promise<number> {
  const docker = openEngine(dockerHost)
  const found = await listOurs(docker, instance)
  for (const { Id } of found) {
    const network = docker.getNetwork(Id)
    const details: NetworkInspectInfo = await callEngine(callTimeoutMs, () => network.inspect())
    for (const Container of Object.keys(details.Containers ?? {}))
      await callEngine(callTimeoutMs, (abortSignal) =>
        network.disconnect({ Container, Force: true, abortSignal }),
      )
    await callEngine(callTimeoutMs, (abortSignal) => network.remove({ abortSignal }))
  }
  return found.length
}

/** The blocks of every network of the engine that is not this installation's. */
export async function listOtherSubnets(dockerHost: string, instance: string): Promise<string[]> {
  const docker = openEngine(dockerHost)
  const all = await callEngine(callTimeoutMs, (abortSignal) => docker.listNetworks({ abortSignal }))
  return all.filter(({ Labels }) => Labels?.[instanceLabel] !== instance).flatMap(subnetsOf)
}

/** Whose networks the engine has. */
export async function listToolInstances(dockerHost: string): Promise<string[]> {
  const docker = openEngine(dockerHost)
  const all = await callEngine(callTimeoutMs, (abortSignal) => docker.listNetworks({ abortSignal }))
  return [...new Set(all.flatMap(({ Labels }) => Labels?.[instanceLabel] ?? []))]
}

async function listOurs(docker: Docker, instance: string): Promise<NetworkInspectInfo[]> {
  const filters = { label: [`${instanceLabel}=${instance}`] }
  const found = await callEngine(callTimeoutMs, (abortSignal) =>
    docker.listNetworks({ filters, abortSignal }),
  )
  // The engine's filter alone would decide what is removed; so it is asked for, and not trusted.
  return found.filter(({ Labels }) => Labels?.[instanceLabel] === instance)
}

function asToolNetwork(info: NetworkInspectInfo): ToolNetwork | undefined {
  const { Id: id, Name: name, Driver, EnableIPv6, Options, Labels } = info
  const bridge = Options?.[bridgeOption]
  const [subnet, ...more] = subnetsOf(info)
  const isAsMade = Driver === 'bridge' && !EnableIPv6 && Options?.[betweenContainersOption] === 'false'
  if (!isAsMade || bridge === undefined || subnet === undefined || more.length > 0) return undefined
  return { id, name, bridge, subnet, egressFilter: Labels?.[filterLabel] === 'on' ? 'on' : 'off' }
}

const subnetsOf = ({ IPAM }: NetworkInspectInfo): string[] =>
  (IPAM?.Config ?? []).flatMap(({ Subnet }) => Subnet ?? [])
