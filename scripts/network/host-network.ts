import { existsSync, readFileSync } from 'node:fs'
import type { Ipv4Range } from '@toolyard/config/ipv4-range'
import { parseIpv4Range } from '@toolyard/config/ipv4-range'
import { runProgram } from './run-program.ts'

export type Link = { name: string; isUp: boolean; isBridge: boolean; filtersBridged: boolean }

/** What the host has a route to, in any of its tables, except by default and by one link. */
export async function readRoutes(exceptLink: string): Promise<Ipv4Range[]> {
  const routes = await readJsonList(['-4', 'route', 'show', 'table', 'all'])
  return routes
    .filter((route) => route['dev'] !== exceptLink)
    .flatMap((route) => parseIpv4Range(String(route['dst'])) ?? [])
}

export async function readLinks(): Promise<Link[]> {
  const links = await readJsonList(['-d', 'link', 'show'])
  return links.map((link) => {
    const info = isObject(link['linkinfo']) ? link['linkinfo'] : {}
    const data = isObject(info['info_data']) ? info['info_data'] : {}
    const flags = Array.isArray(link['flags']) ? link['flags'] : []
    return {
      name: String(link['ifname']),
      isUp: flags.includes('UP'),
      isBridge: info['info_kind'] === 'bridge',
      filtersBridged: data['nf_call_iptables'] === 1 && data['nf_call_ip6tables'] === 1,
    }
  })
}

export async function findLink(name: string): Promise<Link | undefined> {
  return (await readLinks()).find((link) => link.name === name)
}

/** The name servers that an engine of this host asks. One on the loopback it asks from the host itself. */
export function readResolvers(): string[] {
  const listed = nameServers('/etc/resolv.conf')
  // The engine looks behind systemd's own server in the same way.
  const behind = listed.every((address) => address === '127.0.0.53')
    ? nameServers('/run/systemd/resolve/resolv.conf')
    : listed
  return behind.filter((address) => parseIpv4Range(address)?.prefix === 32 && !address.startsWith('127.'))
}

function nameServers(path: string): string[] {
  if (!existsSync(path)) return []
  return [...readFileSync(path, 'utf8').matchAll(/^\s*nameserver\s+(\S+)/gm)].map(
    ([, address = '']) => address,
  )
}

async function readJsonList(args: readonly string[]): Promise<Record<string, unknown>[]> {
  const text = await runProgram('ip', ['-j', ...args])
  const list: unknown = text.trim() === '' ? [] : JSON.parse(text)
  return Array.isArray(list) ? list.filter(isObject) : []
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
