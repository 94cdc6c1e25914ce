import { isIP } from 'node:net'
import type { Block } from './address.ts'
import { parseBlock } from './address.ts'
import { isHostName } from './host-name.ts'

export type GuardSettings = {
  allowHttp?: boolean
  /** Besides 443 for https and 80 for http. */
  ports?: readonly number[]
  /**
   * One's own network: blocks (`10.0.0.0/8`), addresses, host names. A block opens what lies in it. A host name, in
   * exactly this spelling, may be any name (`localhost`, `receiver`) and may resolve to private, loopback,
   * carrier-grade NAT and unique local addresses: the rest of what is special needs its block, so that whoever answers
   * for that name still cannot send us to a metadata service.
   */
  allow?: readonly string[]
  /** Blocks and addresses that are refused although they are public or allowed: one's own network in public space. */
  refuse?: readonly string[]
}

export type GuardRules = {
  allowHttp: boolean
  ports: ReadonlySet<number>
  allowedBlocks: readonly Block[]
  allowedHosts: ReadonlySet<string>
  refusedBlocks: readonly Block[]
}

/** As the configuration of an app has them. */
export type GuardConfig = {
  webhookAllowHttp: boolean
  webhookPorts?: readonly number[] | undefined
  webhookAllow?: readonly string[] | undefined
}

export const guardRulesOf = ({ webhookAllowHttp, webhookPorts, webhookAllow }: GuardConfig): GuardRules =>
  readGuardRules({ allowHttp: webhookAllowHttp, ports: webhookPorts ?? [], allow: webhookAllow ?? [] })

/** Throws a RangeError that names every entry that cannot be. */
export function readGuardRules(settings: GuardSettings): GuardRules {
  const ports = settings.ports ?? []
  const allow = (settings.allow ?? []).map(readEntry)
  const refuse = (settings.refuse ?? []).map(readEntry)
  const faults = [...ports.flatMap(portFaults), ...allow.flatMap(entryFaults), ...refuse.flatMap(entryFaults)]
  for (const entry of refuse)
    if (entry.kind === 'host') faults.push(`${entry.text}: must be a block or an address`)
  if (faults.length > 0) throw new RangeError(faults.join('; '))
  return {
    allowHttp: settings.allowHttp ?? false,
    ports: new Set(ports),
    allowedBlocks: blocksOf(allow),
    allowedHosts: new Set(allow.flatMap((entry) => (entry.kind === 'host' ? [entry.text] : []))),
    refusedBlocks: blocksOf(refuse),
  }
}

type Entry = { kind: 'block'; text: string; block: Block } | { kind: 'host' | 'neither'; text: string }

function readEntry(text: string): Entry {
  const block = parseBlock(text)
  if (block !== undefined) return { kind: 'block', text, block }
  return { kind: isHostName(text) && isIP(text) === 0 ? 'host' : 'neither', text }
}

function entryFaults(entry: Entry): string[] {
  if (entry.kind === 'neither')
    return [`${entry.text}: must be a block (10.0.0.0/8), an address or a host name in lower case`]
  if (entry.kind === 'block' && entry.block.prefixBits === 0) return [`${entry.text}: would be every address`]
  return []
}

function portFaults(port: number): string[] {
  return Number.isInteger(port) && port >= 1 && port <= 65_535
    ? []
    : [`${port}: must be a port from 1 to 65535`]
}

const blocksOf = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.kind === 'block' ? [entry.block] : []))
