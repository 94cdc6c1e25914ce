import { existsSync, writeFileSync } from 'node:fs'
import { findProgram } from '../services/machine/find-program.ts'
import type { EgressRules } from './egress-rules.ts'
import { egressRules } from './egress-rules.ts'
import { isForwarding, planForwarding, startForwarding } from './forwarding.ts'
import { findLink } from './host-network.ts'
import type { NetworkNames } from './network-names.ts'
import { closePassage, openPassage, readPassage } from './pass-other-firewalls.ts'
import { runProgram, tryProgram } from './run-program.ts'

// The filter of the tools' network on this host: one table of nftables, two flags of the bridge, the host's forwarding.

export type FilterPlan = Omit<EgressRules, 'closedLinks' | 'table' | 'bridge'> & { names: NetworkNames }

/** The filter as it stood when it was installed; what differs later was changed by somebody else. */
export type InstalledFilter = FilterPlan & { table: string }

const bridgeFilterFolder = '/proc/sys/net/bridge'
const bridgeFilterSwitches = [
  'bridge-nf-call-iptables',
  'bridge-nf-call-ip6tables',
  'bridge-nf-call-arptables',
]

/** Before the network is made, so that it never exists without. Rules name the bridge, which need not be there yet. */
export async function installFilter(plan: FilterPlan): Promise<InstalledFilter> {
  const { names, ...rest } = plan
  const closedLinks = await planForwarding()
  await runProgram('nft', ['-f', '-'], egressRules({ ...rest, ...names, closedLinks }))
  startForwarding()
  if ((await readPassage(names.bridge)).isBlocked) await openPassage(names.bridge)
  return { ...plan, table: await readTable(names) }
}

/** What can only be said to a bridge that is there. Each setting ends with the bridge. */
export async function closeBridge({ bridge }: NetworkNames): Promise<void> {
  await provideBridgeFilter()
  // Containers on one bridge reach each other below the routes; so that the filter sees them, the bridge has to ask it.
  const flags = ['nf_call_iptables', '1', 'nf_call_ip6tables', '1']
  await runProgram('ip', ['link', 'set', 'dev', bridge, 'type', 'bridge', ...flags])
  const ipv6 = `/proc/sys/net/ipv6/conf/${bridge}/disable_ipv6`
  if (existsSync(ipv6)) writeFileSync(ipv6, '1')
  await runProgram('ip', ['link', 'set', 'dev', bridge, 'up'])
}

/** Nothing passes any more, whatever the rules say. */
export async function cutBridge({ bridge }: NetworkNames): Promise<void> {
  await runProgram('ip', ['link', 'set', 'dev', bridge, 'down'])
}

/** What is not as it was installed. Empty: all is well. */
export async function filterFaults(installed: InstalledFilter): Promise<string[]> {
  const { names } = installed
  const [table, link, passage] = await Promise.all([
    readTable(names),
    findLink(names.bridge),
    readPassage(names.bridge),
  ])
  return [
    ...(table === installed.table ? [] : ['its rules were changed or removed']),
    ...(link?.filtersBridged === false ? ['its bridge does not filter between containers'] : []),
    ...(link === undefined ? ['its bridge is gone'] : []),
    ...(link?.isUp === false ? ['its bridge is down'] : []),
    ...(isForwarding() ? [] : ['the host does not forward any more']),
    ...(passage.isBlocked ? ['another firewall drops what is forwarded'] : []),
  ]
}

/** Leaves nothing of the filter. Works when none of it, or half of it, is there. */
export async function removeFilter(names: NetworkNames): Promise<boolean> {
  if (findProgram('nft') === undefined) return false
  await closePassage(names.bridge)
  const { code } = await tryProgram('nft', ['delete', 'table', 'inet', names.table])
  return code === 0
}

/** Why this host cannot filter; undefined when it can. */
export async function whyNoFilter(): Promise<string | undefined> {
  const missing = ['nft', 'ip'].filter((name) => findProgram(name) === undefined)
  if (missing.length > 0) return `${missing.join(' and ')} not installed`
  const { code, stderr } = await tryProgram('nft', ['list', 'tables'])
  if (code !== 0) return `nftables does not work here (${stderr.trim().split('\n')[0]})`
  await provideBridgeFilter()
  return existsSync(bridgeFilterFolder)
    ? undefined
    : 'the kernel cannot filter between containers (br_netfilter)'
}

async function provideBridgeFilter(): Promise<void> {
  if (existsSync(bridgeFilterFolder) || findProgram('modprobe') === undefined) return
  const { code } = await tryProgram('modprobe', ['br_netfilter'])
  if (code !== 0) return
  // The module begins by filtering every bridge of the machine; only ours is to be.
  for (const name of bridgeFilterSwitches) writeFileSync(`${bridgeFilterFolder}/${name}`, '0')
}

async function readTable({ table }: NetworkNames): Promise<string> {
  return (await tryProgram('nft', ['-s', 'list', 'table', 'inet', table])).stdout
}
